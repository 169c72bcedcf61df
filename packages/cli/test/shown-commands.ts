/** Commands that a page shows, run as they stand there: in an empty folder, on a database of their own. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { emptyDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { databaseUrl, running, start } from './command.ts'
import { shellFunction } from './command-server.ts'

/** The blocks of shell commands of a page, by its path in the repository. */
export async function shownBlocks(path: string): Promise<readonly string[]> {
  const page = await readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')
  return [...page.matchAll(/```sh\n(.*?)\n```/gs)].map(([, block]) => block ?? '')
}

export interface Shell {
  readonly folder: () => string
  /** Runs a block, which must succeed; gives what it printed. */
  run(block: string): Promise<string>
  /**
   * Starts the server of the database. From then on, the address that pages have for it means this one.
   * @param variables of its environment, beside those of the shell
   */
  serve(variables?: Readonly<Record<string, string>>): Promise<void>
}

/** The address of a server, as pages of the documentation write it. */
const SHOWN_URL = 'http://127.0.0.1:8080'

/** @param migrated whether the database has its tables already */
export function shell(migrated: boolean): Shell {
  let folder: string
  let env: Record<string, string>
  let drop: () => Promise<void>
  let serving: { readonly url: string; stop(): Promise<unknown> } | undefined
  beforeAll(async () => {
    const database = await (migrated ? testDatabase() : emptyDatabase())
    drop = 'drop' in database ? database.drop : database.close
    const { PATH = '', HOME = '', TMPDIR = '' } = process.env
    env = { PATH, HOME, TMPDIR, DATABASE_URL: databaseUrl(database.connection), ROLLCALL_MASTER_KEY: 'ab'.repeat(32) }
    folder = await mkdtemp(join(tmpdir(), 'rollcall-shown-'))
  })
  afterAll(async () => {
    await serving?.stop()
    await rm(folder, { recursive: true })
    await drop()
  })
  return {
    folder: () => folder,
    async run(block) {
      const shown = block.replaceAll(SHOWN_URL, serving?.url ?? SHOWN_URL)
      const script = ['set -e -o pipefail', await shellFunction(), 'npx() { "$@"; }', shown].join('\n')
      const { code, stdout, stderr } = await running(spawn('bash', ['-c', script], { cwd: folder, env })).ended
      expect({ block, code, stderr: code === 0 ? '' : stderr }).toEqual({ block, code: 0, stderr: '' })
      return stdout
    },
    async serve(variables = {}) {
      const running = start(['serve', '--json'], { ...env, ...variables })
      serving = { url: '', stop: () => running.stop() }
      await expect.poll(() => running.output().stdout, { timeout: 120_000 }).toContain('\n')
      serving = { ...serving, url: JSON.parse(running.output().stdout).url }
    },
  }
}
