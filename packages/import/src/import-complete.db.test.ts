import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { importRecords } from '@rollcall/admin/records/records'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import { withTransaction } from '@rollcall/database/transaction'
import { prepareRecord } from '@rollcall/records/records/prepare-record'
import { writeRecords } from '@rollcall/records/records/record-writer'
import { addRegistry } from '@rollcall/records/registries/registries'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { importFile } from './import-file.ts'

let database: TestDatabase
let registry: Registry
let directory: string
let files = 0

beforeAll(async () => {
  database = await testDatabase()
  directory = await mkdtemp(join(tmpdir(), 'rollcall-complete-'))
  registry = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
})
afterAll(async () => {
  await database.close()
  await rm(directory, { recursive: true })
})
beforeEach(empty)

async function empty(): Promise<void> {
  await database.db.pool.query(
    'truncate r1_person, r1_person_identifier, event, import_progress, retired_record, record_tombstone cascade',
  )
}

const person = (uin: string, members: object = {}): string =>
  `${JSON.stringify({ identifier: [{ identifier_type: 'UIN', identifier_value: uin }], ...members })}\n`
const people = (count: number): string[] => Array.from({ length: count }, (_, at) => person(`P${at}`))

interface Given {
  readonly allow_removal?: number
  readonly dry_run?: boolean
  readonly events?: 'none' | 'changes'
  readonly complete?: boolean
  readonly mapping?: unknown
  readonly record_type?: string
}

type Deps = Parameters<typeof importRecords>[0]

async function load(content: string | readonly string[] | Readable, given: Given = {}, more: Partial<Deps> = {}) {
  const path = join(directory, `${++files}.${given.mapping === undefined ? 'ndjson' : 'csv'}`)
  const text = typeof content === 'string' ? content : content instanceof Readable ? '' : content.join('')
  await writeFile(path, text)
  const source = content instanceof Readable ? content : path
  const deps = { db: database.db, limits: DEFAULT_LIMITS, source, rejectsPath: null, ...more }
  const format = given.mapping === undefined ? ('ndjson' as const) : ('csv' as const)
  return importRecords(acting(deps), { namespace: 'civil', complete: true, format, ...given })
}

const rows = async (statement: string) => (await database.db.pool.query(statement)).rows
const stored = async (): Promise<string[]> =>
  (await rows('select primary_identifier from r1_person order by 1')).map((row) => row.primary_identifier)

/** Adds a person as `rollcall publish` does, while no import runs. */
async function publishPerson(uin: string): Promise<void> {
  const [recordType = expect.fail()] = registry.kind.record_types
  const record = prepareRecord(registry.kind, recordType, JSON.parse(person(uin)))
  await withTransaction(database.db.pool, (client) => writeRecords(client, registry, recordType, [record]))
}

test('what is stored already is not written, what differs is, and who is not in the file goes with an event', async () => {
  await load([person('A1'), person('B2'), person('C3')], { complete: false })
  const before = await rows('select id, xmin::text, updated_at from r1_person order by primary_identifier')
  const result = await load([person('A1'), person('C3', { sex: 'F' }), person('D4')], { allow_removal: 1 })
  expect(result).toMatchObject({ finished: true, lines: 3, written: 3, unchanged: 1, new: 1, replaced: 1 })
  expect(result.removal).toEqual({ before: 3, absent: 1, removed: 1, refusal: null })
  expect(await stored()).toEqual(['A1', 'C3', 'D4'])
  const after = await rows('select id, xmin::text, updated_at from r1_person order by primary_identifier')
  expect(after[0]).toEqual(before[0])
  expect(after[1].xmin).not.toBe(before[2].xmin)
  expect(await rows('select primary_identifier from record_tombstone')).toEqual([{ primary_identifier: 'B2' }])
  const events = (await rows('select event_type from event order by 1')).map((row) => row.event_type)
  expect(events).toHaveLength(3)
  expect(await rows('select 1 from r1_person_identifier where value = $$B2$$')).toEqual([])
})

test('with --events none a removal is no event', async () => {
  await load([person('A1'), person('B2')], { complete: false })
  await load([person('A1')], { allow_removal: 1, events: 'none' })
  expect(await stored()).toEqual(['A1'])
  expect(await rows('select 1 from event')).toEqual([])
})

test('a removal leaves the entry of record delete in the audit log', async () => {
  const notes: (string | null | undefined)[] = []
  await load([person('A1'), person('B2')], { complete: false })
  const deps = acting({ db: database.db })
  const auditLog = {
    ...deps.auditLog,
    write: (...written: Parameters<typeof deps.auditLog.write>) => {
      notes.push(written[0].note)
      return deps.auditLog.write(...written)
    },
  }
  await load([person('A1')], { allow_removal: 1 }, { auditLog })
  expect(notes).toEqual(['import', 'record delete'])
})

test('a signal that comes as the removal begins is no failure', async () => {
  const stopping = new AbortController()
  await load([person('A1'), person('B2')], { complete: false })
  const { auditLog } = acting({ db: database.db })
  const write = (...written: Parameters<typeof auditLog.write>) => {
    if (written[0].note === 'record delete') stopping.abort()
    return auditLog.write(...written)
  }
  const more = { auditLog: { ...auditLog, write }, signal: stopping.signal }
  expect(await load([person('A1')], { allow_removal: 1 }, more)).toMatchObject({ finished: true, removal: { removed: 1 } })
})

test('up to 2 % go without being allowed, and more do not; what the file has is written', async () => {
  const all = people(100)
  await load(all, { complete: false })
  expect((await load(all.slice(2))).removal).toEqual({ before: 100, absent: 2, removed: 2, refusal: null })
  const { removal, finished, new: added } = await load([...all.slice(4), person('NEW')])
  expect({ finished, added }).toEqual({ finished: true, added: 1 })
  expect(removal).toEqual({
    before: 98,
    absent: 2,
    removed: 0,
    refusal:
      'nobody is removed: 2 of 98 records in civil are not in the file, and 2 % of them may go; if the file is complete, import it again with --allow-removal 2',
  })
  expect(await load([...all.slice(4), person('NEW')], { allow_removal: 1 })).toMatchObject({
    unchanged: 97,
    removal: {
      removed: 0,
      refusal:
        'nobody is removed: 2 of 99 records in civil are not in the file, and --allow-removal allows 1; if the file is complete, import it again with --allow-removal 2',
    },
  })
  expect(await stored()).toHaveLength(99)
  expect((await load([...all.slice(4), person('NEW')], { allow_removal: 2 })).removal).toMatchObject({ removed: 2 })
  expect(await stored()).toHaveLength(97)
})

test('the part is of the records that there were before: a large other file removes nobody', async () => {
  await load(people(10), { complete: false })
  const others = Array.from({ length: 1_000 }, (_, at) => person(`Q${at}`))
  expect((await load(others)).removal).toMatchObject({ before: 10, absent: 10, removed: 0 })
})

test('a dry run says who would go, and changes nothing', async () => {
  await load([person('A1'), person('B2')], { complete: false })
  const removalsPath = join(directory, 'leavers.ndjson')
  const result = await load([person('A1'), person('C3')], { allow_removal: 1, dry_run: true }, { removalsPath })
  expect(result).toMatchObject({ dry_run: true, new: null, unchanged: 1 })
  expect(result.removal).toEqual({ before: 2, absent: 1, removed: 0, refusal: null })
  expect(await stored()).toEqual(['A1', 'B2'])
  expect(await readFile(removalsPath, 'utf8')).toBe('{"record_type":"Person","primary_identifier":"B2"}\n')
  expect((await stat(removalsPath)).mode & 0o777).toBe(0o600)
})

test('who is to go is listed only when it is asked, in a file of the owner, before anybody goes', async () => {
  await load([person('A1'), person('B2')], { complete: false })
  const removalsPath = join(directory, 'listed.ndjson')
  await writeFile(removalsPath, '', { mode: 0o644 })
  const refused = await load([person('A1')], {}, { removalsPath })
  expect(refused.removal).toMatchObject({ removed: 0 })
  expect(JSON.stringify(refused)).not.toContain('B2')
  expect(await readFile(removalsPath, 'utf8')).toContain('"B2"')
  expect((await stat(removalsPath)).mode & 0o777).toBe(0o600)
  await expect(load([person('A1')], {}, { removalsPath: join(directory, 'no', 'folder') })).rejects.toThrow(
    'the file of removals cannot be written (ENOENT); name another with --removals',
  )
  expect(await stored()).toEqual(['A1', 'B2'])
})

test('a rejected line keeps its person', async () => {
  await load([person('A1'), person('B2', { birth_date: '1990-01-01' })], { complete: false })
  const result = await load([person('A1'), person('B2', { birth_date: 'not a date' })])
  expect(result).toMatchObject({ rejected: 1, removal: { absent: 0, removed: 0, refusal: null } })
  expect(await stored()).toEqual(['A1', 'B2'])
})

test('a person whose first line was rejected is imported by a later one', async () => {
  const mapping = { 'identifier[UIN]': 'No', birth_date: 'Born' }
  const result = await load('No,Born\nA1,not a date\nA1,1990-01-01\nA1,1991-01-01\n', { mapping })
  expect(result).toMatchObject({ written: 1, rejected: 2 })
  expect(result.report.rejections).toMatchObject([{ reason: 'an earlier line has the same UIN, and its record stands' }])
})

test('of several lines about one person the one that stands is compared', async () => {
  await load([person('A1', { sex: 'F' })], { complete: false })
  expect(await load([person('A1'), person('A1', { sex: 'F' })])).toMatchObject({ unchanged: 2, replaced: 0 })
  const apart = await importFile(database.db, registry, await fileOf([person('A1'), person('A1', { sex: 'F' })]), {
    batchEntries: 1,
    complete: { remove: () => Promise.resolve(0) },
  })
  expect(apart).toMatchObject({ written: 2, replaced: 2, report: { repeated: { count: 1, lines: [2] } } })
  expect(await rows(`select document::json->>'sex' as sex from r1_person`)).toEqual([{ sex: 'F' }])
})

async function fileOf(lines: readonly string[]): Promise<string> {
  const path = join(directory, `${++files}.ndjson`)
  await writeFile(path, lines.join(''))
  return path
}

test('a rejected line that does not say whose record it is lets nobody go, even if it is allowed', async () => {
  await load([person('A1'), person('B2')], { complete: false })
  const { rejected, removal } = await load([person('A1'), '{"identifier"\n', person('C3')], { allow_removal: 9 })
  expect(rejected).toBe(1)
  expect(removal).toEqual({
    before: 2,
    absent: 1,
    removed: 0,
    refusal:
      'nobody is removed: line 2 was rejected and does not say whose record it is (such lines: 1); mend the file and import it again',
  })
  expect(await stored()).toEqual(['A1', 'B2', 'C3'])
})

test('a file without records is refused', async () => {
  await load([person('A1')], { complete: false })
  await expect(load('\n', { allow_removal: 9 })).rejects.toMatchObject({
    reason: 'invalid',
    message: 'the file has no records: with --complete everybody would go, so nothing is removed',
  })
  expect(await stored()).toEqual(['A1'])
})

test('a stream is refused before anything is written', async () => {
  await load([person('B2')], { complete: false })
  await expect(load(Readable.from([Buffer.from(person('A1'))]))).rejects.toMatchObject({
    reason: 'invalid',
    message: '--complete needs a file: standard input or a pipe may end early, and people would go; write it to a file first',
  })
  expect(await stored()).toEqual(['B2'])
  expect(await rows('select entries::integer from import_progress')).toEqual([{ entries: 1 }])
})

test('the list of removals is no file that is read or written otherwise', async () => {
  const source = await fileOf([person('A1')])
  await expect(load('', {}, { source, removalsPath: source })).rejects.toThrow(
    '--removals names the imported file or the file of rejected lines; name another file',
  )
})

test('what is for a complete file is refused without --complete', async () => {
  await expect(load([person('A1')], { complete: false, allow_removal: 1 })).rejects.toMatchObject({
    reason: 'invalid',
    message: 'a removal is of a complete file: --allow-removal and --removals go with --complete',
  })
})

test('a record that another was merged into stays when the file names either of them', async () => {
  await load([person('A1'), person('B2'), person('C3')], { complete: false })
  await database.db.pool.query(
    `with gone as (delete from r1_person where primary_identifier = 'B2' returning *)
     insert into retired_record (registry, record_type, record, primary_identifier, document, created_at, merged_into,
       survivor, merged_at, event)
     select $1, 'Person', gone.id, 'B2', gone.document, gone.created_at, kept.id, kept.id, now(), 1
     from gone, r1_person as kept where kept.primary_identifier = 'A1'`,
    [registry.id],
  )
  expect((await load([person('B2'), person('C3')])).removal).toMatchObject({ absent: 0 })
  expect((await load([person('C3')], { allow_removal: 1 })).removal).toMatchObject({ absent: 1, removed: 1 })
  expect(await stored()).toEqual(['C3'])
  expect(await rows('select 1 from retired_record')).toEqual([])
})

test('who was added after the import began is newer than the file, and stays', async () => {
  await load(people(3), { complete: false })
  await database.db.pool.query(`update r1_person set created_at = now() + interval '1 hour' where primary_identifier = 'P2'`)
  const { removal } = await load(people(2), { allow_removal: 9 })
  expect(removal).toEqual({ before: 2, absent: 0, removed: 0, refusal: null })
  expect(await stored()).toEqual(['P0', 'P1', 'P2'])
})

test('an import whose session dies after any batch writes the rest, and lets people go, when it is run again', async () => {
  const ends = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
  const killer = new pg.Client(database.owner)
  await killer.connect()
  const lines = [person('A1', { sex: 'F' }), person('B2'), person('D4')]
  try {
    /** Imports a file whose session ends after so many batches. Returns the file; null when the end came too late. */
    const interruptedAfter = async (lived: number): Promise<string | null> => {
      await empty()
      await load([person('A1'), person('B2'), person('C3')], { complete: false })
      // Who was added since the file was made would stay.
      const source = await fileOf(lines)
      let batches = 0
      let killing: Promise<unknown> | undefined
      const dying = importFile(database.db, registry, source, {
        batchEntries: 1,
        rejectsPath: null,
        events: { mode: 'changes', limits: DEFAULT_LIMITS, now: () => new Date() },
        complete: { remove: () => expect.fail('nobody goes before the file was read') },
        onProgress() {
          batches += 1
          if (batches === lived) killing = killer.query(ends)
        },
      })
      const hasFailed = await dying.then(
        () => false,
        () => true,
      )
      await killing
      // The pool learns a moment later that its connections have ended.
      await expect.poll(stored).toContain('A1')
      return hasFailed ? source : null
    }
    for (const lived of [1, 2, 3]) {
      let source: string | null = null
      while (source === null) source = await interruptedAfter(lived)
      expect(await stored()).toContain('C3')
      await publishPerson('NEW')
      expect(await load('', { allow_removal: 2 }, { source })).toMatchObject({ finished: true, removal: { removed: 1 } })
      expect(await stored()).toEqual(['A1', 'B2', 'D4', 'NEW'])
      // A changed, D came, and C went: each is an event once, however often the file was read.
      expect(await rows('select 1 from event')).toHaveLength(3)
    }
  } finally {
    await killer.end()
  }
})

test('who was added since the first try of a file stays when its removal is allowed', async () => {
  await load([person('A1'), person('B2'), person('C3')], { complete: false })
  const source = await fileOf([person('A1')])
  expect(await load('', {}, { source })).toMatchObject({ removal: { absent: 2, removed: 0 } })
  await publishPerson('NEW')
  expect(await load('', { allow_removal: 1 }, { source })).toMatchObject({ removal: { absent: 2, removed: 0 } })
  expect(await load('', { allow_removal: 3 }, { source })).toMatchObject({ removal: { absent: 2, removed: 2 } })
  expect(await stored()).toEqual(['A1', 'NEW'])
  // An import that has removed whom it may begins anew; the file is as old as before.
  expect(await load('', { allow_removal: 3 }, { source })).toMatchObject({ removal: { before: 1, absent: 0, removed: 0 } })
})

test('who was added since the file was made stays', async () => {
  await load([person('A1'), person('B2')], { complete: false })
  const source = await fileOf([person('A1')])
  await publishPerson('NEW')
  // A clock that is ahead changes nothing: then the begin of the import counts.
  await utimes(source, new Date(), new Date(Date.now() + 3_600_000))
  expect(await load('', { dry_run: true, allow_removal: 9 }, { source })).toMatchObject({ removal: { before: 3, absent: 2 } })
  const [{ made }] = await rows(`select created_at as made from r1_person where primary_identifier = 'NEW'`)
  await utimes(source, made, made)
  expect(await load('', { allow_removal: 9 }, { source })).toMatchObject({ removal: { before: 2, absent: 1, removed: 1 } })
  expect(await stored()).toEqual(['A1', 'NEW'])
})

test('who was added by another import after the first try of a file stays', async () => {
  await load([person('A1'), person('B2')], { complete: false })
  const source = await fileOf([person('A1')])
  expect(await load('', {}, { source })).toMatchObject({ removal: { absent: 1, removed: 0 } })
  await load([person('NEW')], { complete: false })
  expect(await load('', { allow_removal: 9 }, { source })).toMatchObject({ removal: { absent: 1, removed: 1 } })
  expect(await stored()).toEqual(['A1', 'NEW'])
})

test('a person whose line the database refuses stays', async () => {
  await load([person('A1'), person('B2')], { complete: false })
  await rows(`create index refusing on r1_person ((1 / (length(document) * 0))) where document like '%refuse%'`)
  const { removal, rejected } = await load([person('A1'), person('B2', { note: 'refuse' })], { allow_removal: 9 })
  await rows('drop index refusing')
  expect([rejected, removal]).toEqual([1, { before: 2, absent: 0, removed: 0, refusal: null }])
  expect(await stored()).toEqual(['A1', 'B2'])
})

test('property: after the import of a complete file the registry is what the file says', async () => {
  const set = fc.dictionary(fc.constantFrom(...'abcdefgh'), fc.constantFrom('F', 'M', 'X'))
  const linesOf = (persons: Record<string, string>) =>
    Object.entries(persons).map(([uin, sex]) => person(uin.toUpperCase(), { sex }))
  const property = fc.asyncProperty(set, set, fc.constantFrom(1, 2, 100), async (one, other, batchEntries) => {
    await empty()
    if (Object.keys(one).length > 0) await load(linesOf(one), { complete: false })
    if (Object.keys(other).length === 0) return
    let batches = 0
    const onProgress = (): void => {
      batches += 1
    }
    const result = await load(linesOf(other), { allow_removal: 8 }, { batchEntries, onProgress })
    // Each batch tells its progress, and so does the end.
    expect(batches).toBe(Math.ceil(Object.keys(other).length / batchEntries) + 1)
    const same = Object.entries(other).filter(([uin, sex]) => one[uin] === sex)
    const gone = Object.keys(one).filter((uin) => other[uin] === undefined)
    expect(result).toMatchObject({ unchanged: same.length, removal: { removed: gone.length } })
    const found = await rows(`select lower(primary_identifier) as uin, document::json->>'sex' as sex from r1_person`)
    expect(Object.fromEntries(found.map(({ uin, sex }) => [uin, sex]))).toEqual(other)
  })
  await fc.assert(property, { numRuns: 12 })
})
