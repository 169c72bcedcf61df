import { validator } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startedDatabase, type TestDatabase } from '../../../keys/test/postgres.ts'
import { auditEntry, memoryAuditLog, testAuditLog, vaultOf } from '../../../settings/test/audit-log.ts'
import { acting } from '../../test/acting.ts'
import { AdminRefusal } from '../admin-function.ts'
import { listAuditEntries } from './list.ts'
import { beginVerification, createVerificationTask, showVerification, stopVerification } from './verification.ts'

let database: TestDatabase
const log = { error: () => undefined }

beforeAll(async () => {
  database = await startedDatabase()
  const auditLog = testAuditLog(database.db)
  await Promise.all(Array.from({ length: 30 }, (_, records) => auditLog.write(auditEntry({ records }), [])))
  await auditLog.close()
})
afterAll(() => database.close())

const deps = () => {
  const { db } = database
  const auditLog = memoryAuditLog()
  const verifying = createVerificationTask({ db, log, vault: () => vaultOf(db) })
  return { db, log, auditLog, caller: { kind: 'shell', user: 'ada' } as const, verifying }
}

/** Asks until it has ended. */
async function ended(asked: ReturnType<typeof deps>) {
  for (;;) {
    const progress = await showVerification(asked, {})
    expect(validator(showVerification.result).problem(progress, '')).toBeNull()
    if (progress.state !== 'running') return progress
    await database.db.pool.query('select')
  }
}

test('a verification is begun, goes on by itself, and says what it found', async () => {
  const asked = deps()
  expect(await showVerification(asked, {})).toMatchObject({ state: 'none', entries: 0, result: null })
  const [begun, again] = await Promise.all([beginVerification(acting(asked), {}), beginVerification(acting(asked), {})])
  expect([begun.by, begun.began_at]).toEqual(['ada', again.began_at])
  const { state, entries, result } = await ended(asked)
  expect([state, entries, result?.good, result?.counts.entries]).toEqual(['done', 30, true, 30])
  expect(asked.auditLog.written.map(({ entry }) => entry.note)).toEqual(['audit verify', 'audit verify'])
})

test('one that is stopped reads nothing more, and another one may be begun', async () => {
  const asked = deps()
  await beginVerification(acting(asked), {})
  const stopped = await stopVerification(acting(asked), {})
  expect(['stopped', 'done']).toContain(stopped.state)
  await beginVerification(acting(asked), {})
  expect((await ended(asked)).state).toBe('done')
  expect((await stopVerification(acting(asked), {})).state).toBe('done')
})

test('one that fails says so, and the log why', async () => {
  const lines: string[] = []
  const verifying = createVerificationTask({
    db: database.db,
    log: { error: (_: object, message?: string) => void lines.push(message ?? '') },
    vault: () => Promise.reject(new Error('no vault')),
  })
  const asked = { ...deps(), verifying }
  await beginVerification(acting(asked), {})
  expect((await ended(asked)).state).toBe('failed')
  expect(lines).toEqual(['the audit log could not be verified'])
})

test('the audit entries are listed page by page, each once', async () => {
  const asked = { ...deps(), vault: () => vaultOf(database.db) }
  const seen: number[] = []
  for (let before: string | undefined; ; ) {
    const page = await listAuditEntries(acting(asked), { participant: 'sp.example', before, limit: 7 })
    seen.push(...page.map(({ records }) => records))
    if (page.length < 7) break
    before = page.at(-1)?.id
  }
  expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, at) => at))
  const unknown = '3b241101-e2bb-4255-8caf-4136c566a962.1'
  const refused = await listAuditEntries(acting(asked), { before: unknown }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(AdminRefusal)
  expect((refused as AdminRefusal).message).toBe('before: the entry is not stored any more; begin with the first page')
})
