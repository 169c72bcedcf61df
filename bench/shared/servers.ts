/** The servers that benches start: ours, and the floors. Each is a module of `bench/` that starts as a process, too. */
import type { StartServer } from './server-process.ts'

export const SERVERS = {
  'servers/rollcall': () => import('../servers/rollcall.ts'),
  'floors/search': () => import('../floors/search.ts'),
  'floors/signed-search': () => import('../floors/signed-search.ts'),
  'floors/async': () => import('../floors/async.ts'),
  'floors/enrolled': () => import('../floors/enrolled.ts'),
  'floors/notify': () => import('../floors/notify.ts'),
  'floors/idle': () => import('../floors/idle.ts'),
} satisfies Readonly<Record<string, () => Promise<{ readonly start: StartServer }>>>
