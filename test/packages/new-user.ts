/** A new user: an empty folder, npm, a Node, a registry of packages, and no access to this clone. */
import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Running, running } from '../../packages/cli/test/command.ts'

const root = resolve(import.meta.dirname, '../..')

export interface NewUser {
  readonly folder: string
  /** Runs a program to its end; it rejects where the program fails. */
  run(program: string, ...words: string[]): Promise<{ readonly stdout: string; readonly stderr: string }>
  /** Starts a program that goes on. */
  start(program: string, ...words: string[]): Running
  remove(): void
}

/**
 * @param registry_url of the packages
 * @param node the program that is called `node` on the user's machine
 */
export function newUser(registry_url: string, node = process.execPath): NewUser {
  const home = mkdtempSync(join(realpathSync(tmpdir()), 'rollcall-new-user-'))
  const programs = join(home, 'bin')
  const folder = join(home, 'empty')
  mkdirSync(programs)
  mkdirSync(folder)
  symlinkSync(node, join(programs, 'node'))
  for (const name of ['npm', 'npx']) symlinkSync(onThisMachine(name), join(programs, name))
  const env = {
    PATH: [programs, '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    TMPDIR: home,
    npm_config_registry: registry_url,
    npm_config_cache: join(home, 'cache'),
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    PORT: '0',
  }
  const options = { cwd: folder, env }
  return {
    folder,
    run: (program, ...words) => promisify(execFile)(program, words, options),
    start(program, ...words) {
      const started = running(spawn(program, words, { ...options, stdio: 'pipe', detached: true }))
      const { pid = 0 } = started.process
      return {
        ...started,
        // As Ctrl-C in a terminal: npx and what it started get the signal.
        stop(signal = 'SIGINT') {
          process.kill(-pid, signal)
          return started.ended
        },
      }
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** A program of the machine's npm; what `npm ci` links into this clone is not meant. */
function onThisMachine(name: string): string {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter((path) => !path.startsWith(root))) {
    try {
      return realpathSync(join(folder, name))
    } catch {
      // Not in this folder.
    }
  }
  throw new Error(`${name} is in no folder of PATH`)
}
