/** Builds the pages into `dist/`. `npm ci` runs it; without the packages for development it does nothing. */
import { createRequire } from 'node:module'

const { resolve } = createRequire(import.meta.url)

function isInstalled(name: string): boolean {
  try {
    resolve(name)
    return true
  } catch {
    return false
  }
}

if (['vite', '@vitejs/plugin-react', 'vitepress'].every(isInstalled)) {
  const { build } = await import('vite')
  const { CONSOLE, PARTNER } = await import('./config.ts')
  for (const pages of [CONSOLE, PARTNER]) await build({ ...pages, logLevel: 'warn' })
}
