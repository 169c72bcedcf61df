/** Processes that are killed while they write audit entries: what they were told is written is there, and all of it verifies. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, inject, onTestFinished, test } from 'vitest'
import { masterKeyOfRun, startedDatabase } from '../../keys/test/postgres.ts'
import { storedEntries } from '../../settings/test/audit-log.ts'
import { verified } from '../../settings/test/tampering.ts'

test('kill -9 between commits, of several processes, while the audit log is verified', async () => {
  const database = await startedDatabase()
  onTestFinished(() => database.close())
  const killed = async (run: string, after: number): Promise<string[]> => {
    const env = {
      PATH: process.env.PATH,
      CONNECTION: JSON.stringify(database.connection),
      RUN: run,
      ROLLCALL_MASTER_KEY: masterKeyOfRun(),
    }
    const child = spawn(process.execPath, [inject('programs').audited], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (printed.split('\n').length > after) child.kill('SIGKILL')
    })
    await once(child, 'close')
    return printed.slice(0, printed.lastIndexOf('\n')).split('\n')
  }
  const written = (await Promise.all([killed('a', 300), killed('b', 700)])).flat()
  const [during, more] = await Promise.all([verified(database), killed('c', 400)])
  const there = new Set((await storedEntries(database.db)).map(({ entry }) => entry.transaction_id))
  expect([...written, ...more].filter((id) => !there.has(id))).toEqual([])
  const after = await verified(database)
  for (const { report } of [during, after]) expect(report.faults).toEqual([])
  expect(after.report.counts.entries).toBe(there.size)
  expect(after.report.counts.checkpoints).toBeGreaterThan(10)
})
