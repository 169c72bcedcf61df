import { Readable } from 'node:stream'
import { AdminRefusal } from '@rollcall/admin/admin-function'
import { createIndexBuilder } from '@rollcall/admin/registries/index-build'
import { importFile } from '@rollcall/import/import-file'
import { INITIAL_PROGRESS, saveProgress } from '@rollcall/import/import-progress'
import { tryClaimImport } from '@rollcall/records/records/claims'
import { afterAll, expect, it } from 'vitest'
import { adminCaller } from '../../../test/admin-api.ts'
import { ADA } from '../../../test/civil.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
afterAll(() => server.close())
const civil = await server.registry('civil', [ADA])
const caller = await adminCaller(server)
const { tokens, get, post, refusal } = caller
const AT = '/registries/civil'

it('a registry is shown with what can be searched, and without records', async () => {
  const { status, body } = await get(AT, tokens.read)
  expect([status, body.records, body.import]).toEqual([200, { Person: 1 }, null])
  expect(body.attributes).toContainEqual(expect.objectContaining({ name: 'birth_date', filled: true }))
  expect(body.identifier_types).toContainEqual(expect.objectContaining({ name: 'UIN', primary: ['Person'] }))
  expect(body.operations).toEqual(expect.arrayContaining(['search', 'subscribe']))
  expect(body.event_types.length).toBeGreaterThan(0)
  expect(body.indexes).toMatchObject([{ record_type: 'Person', missing: [], unfilled: [] }])
  expect(JSON.stringify(body)).not.toContain(JSON.stringify(ADA.identifier[0]?.identifier_value))
})

it('an import that has begun is shown with its counts, and whether a process is at it', async () => {
  const client = await server.database.db.pool.connect()
  try {
    const rejections = [{ reason: 'identifier: is required', count: 2, lines: [3, 4] }]
    const read = { ...INITIAL_PROGRESS.read, rejections }
    await saveProgress(client, civil.id, 'file', { ...INITIAL_PROGRESS, line: 9, entries: 8, rejected: 2, read })
    const shown = async () => (await get(AT, tokens.read)).body.import
    expect(await shown()).toMatchObject({
      running: false,
      line: 9,
      entries: 8,
      rejected: 2,
      rejections: [{ reason: 'identifier: is required', count: 2 }],
    })
    await tryClaimImport(client, civil.id)
    expect((await shown()).running).toBe(true)
  } finally {
    client.release(true)
  }
})

it('the report of an import that has ended is stored, until another one has begun', async () => {
  const { db } = server.database
  const table = ['No,Born,Sex', 'U1,1990-01-01,male', 'U2,31/31/1990,female', ',1990-01-01,male', ''].join('\n')
  await importFile(db, civil, Readable.from(table), {
    format: 'csv',
    rejectsPath: null,
    mapping: { 'identifier[UIN]': 'No', birth_date: 'Born', sex: 'Sex' },
  })
  const shown = (await get(AT, tokens.read)).body
  expect(shown.import).toBeNull()
  expect(shown.last_import).toMatchObject({ entries: 3, written: 1, inserted: 1, rejected: 2, kept: 0 })
  const at = (rows: { path?: string; name?: string }[], name: string) => rows.find((row) => (row.path ?? row.name) === name)
  expect(at(shown.last_import.paths, 'birth_date')).toMatchObject({ understood: 2, not_understood: 1, lines: [3], rule: null })
  expect(at(shown.last_import.attributes, 'birth_date')).toMatchObject({ not_understood: 1, rule: null })
  expect(shown.last_import.rejections).toMatchObject([{ count: 1, lines: [4] }])
  expect(JSON.stringify(shown.last_import)).not.toMatch(/31\/31|U2/)
  const client = await db.pool.connect()
  try {
    await saveProgress(client, civil.id, 'file', { ...INITIAL_PROGRESS, entries: 8 })
  } finally {
    client.release()
  }
  const { import: begun, last_import } = (await get(AT, tokens.read)).body
  expect([begun.entries, last_import]).toEqual([8, null])
})

it('a synthetic record of each type has its schema beside it', async () => {
  const { body } = await get(`${AT}/sample`, tokens.read)
  expect(body).toMatchObject([{ record_type: 'Person', primary_identifier: 'UIN', schema: { type: 'object' } }])
  expect(body[0].record.identifier).toContainEqual(expect.objectContaining({ identifier_type: 'UIN' }))
  expect(await refusal(`${AT}/sample?record_type=Cow`, undefined, tokens.read)).toMatch(/^400 err\.request\.bad .*Cow/)
})

it('web origins are set whole, and refused where they are none', async () => {
  const origins = ['https://app.example']
  expect((await post(`${AT}/settings`, { web_origins: origins })).body.web_origins).toEqual(origins)
  expect(await refusal(`${AT}/settings`, { web_origins: ['https://app.example/path'] })).toMatch(/^400 err\.request\.bad /)
  expect(await refusal(`${AT}/settings`, {})).toBe(
    '400 err.request.bad nothing to change: give aliases, time_zone, majority_age, web_origins, reg_type_aliases, qualified_kids, primary_identifiers or source',
  )
})

it('an attribute is added, indexed and removed by one who operates', async () => {
  const clan = { record_type: 'Person', name: 'clan', paths: ['clan'], type: 'text' }
  const added = await post(`${AT}/attributes`, clan, tokens.operate)
  expect([added.status, added.body]).toMatchObject([201, { name: 'clan', indexed: false, filled: false, from: 'registry' }])
  const named = { record_type: 'Person', name: 'clan' }
  expect((await post(`${AT}/attributes/index`, named, tokens.operate)).body.indexed).toBe(true)
  const { body } = await get(AT)
  expect(body.indexes).toMatchObject([{ unfilled: ['clan'], missing: [{ of: 'clan', state: 'missing' }] }])
  expect((await post(`${AT}/attributes/remove`, named, tokens.operate)).body.removed).toBe(true)
  expect(await refusal(`${AT}/attributes/remove`, named)).toMatch(/^400 err\.request\.bad .*clan/)
})

/** Asks until the build has ended. */
async function built(namespace = 'civil') {
  for (;;) {
    const { body } = await get(`/registries/${namespace}/indexes/build`, tokens.read)
    if (body.state !== 'running') return body
    await server.database.db.pool.query('select')
  }
}

it('a build fills columns and makes indexes, is watched, and has nothing to do the second time', async () => {
  expect(await built()).toMatchObject({ state: 'none', by: null, built: [] })
  const tribe = { record_type: 'Person', name: 'tribe', paths: ['tribe'], type: 'text', indexed: true }
  await post(`${AT}/attributes`, tribe)
  const begun = await post(`${AT}/indexes/build`, {}, tokens.operate)
  expect([begun.status, begun.body]).toMatchObject([200, { state: 'running', by: 'test-operate', failure: null }])
  expect(await built()).toMatchObject({
    state: 'done',
    by: 'test-operate',
    task: null,
    filled: ['Person.tribe'],
    built: [expect.stringContaining('tribe')],
  })
  const { body } = await get(AT)
  expect(body.indexes).toMatchObject([{ unfilled: [], missing: [] }])
  await post(`${AT}/indexes/build`, {}, tokens.operate)
  expect(await built()).toMatchObject({ state: 'done', filled: [], built: [] })
  expect((await post(`${AT}/indexes/build/stop`, {}, tokens.operate)).body.state).toBe('done')
  expect(await refusal('/registries/none/indexes/build', {})).toMatch(/^404 err\.request\.not_found /)
})

it('what another process builds is said to be built elsewhere, and is not begun here', async () => {
  const client = await server.database.db.pool.connect()
  try {
    await client.query("select pg_advisory_lock(hashtext('rollcall indexes'), $1)", [civil.id])
    const elsewhere = { state: 'elsewhere', by: null, task: null }
    expect(await built()).toMatchObject(elsewhere)
    expect((await post(`${AT}/indexes/build`, {}, tokens.operate)).body).toMatchObject(elsewhere)
  } finally {
    await client.query('select pg_advisory_unlock_all()')
    client.release()
  }
})

it('a server makes one build at a time, and says why one has failed', async () => {
  const { db } = server.database
  const indexing = createIndexBuilder({ db, log: { error: () => undefined } })
  const client = await db.pool.connect()
  try {
    await client.query("select pg_advisory_lock(hashtext('rollcall indexes'), $1)", [civil.id])
    expect(indexing.begin('civil', 'ada').state).toBe('running')
    expect(indexing.begin('civil', 'ben').by).toBe('ada')
    expect(() => indexing.begin('social', 'ada')).toThrow(
      new AdminRefusal(
        'this server builds the indexes of another registry now; try again when it has ended, or use rollcall index apply',
        { reason: 'conflict' },
      ),
    )
    await indexing.stop()
    expect(indexing.progress('civil')).toMatchObject({
      state: 'failed',
      by: 'ada',
      task: null,
      failure: 'another command builds the indexes of civil or changed its attributes; try again when it has ended',
    })
  } finally {
    await client.query('select pg_advisory_unlock_all()')
    client.release()
  }
})

it('an identifier type is added, changed and removed by one who operates', async () => {
  const types = async () => (await get(AT)).body.identifier_types
  const added = await post(`${AT}/identifier-types`, { name: 'CEDULA', patterns: ['[0-9]{8}'] }, tokens.operate)
  expect([added.status, added.body]).toMatchObject([
    201,
    { name: 'CEDULA', compared_as: 'code', patterns: ['[0-9]{8}'], from: 'registry' },
  ])
  const changed = { name: 'CEDULA', aliases: ['DocumentNo'], patterns: [] }
  await post(`${AT}/identifier-types/change`, changed, tokens.operate)
  expect(await types()).toContainEqual(expect.objectContaining({ ...changed, primary: [] }))
  expect(await refusal(`${AT}/identifier-types/change`, { name: 'NONE', aliases: [] })).toMatch(/^400 err\.request\.bad .*NONE/)
  expect((await post(`${AT}/identifier-types/remove`, { name: 'CEDULA' }, tokens.operate)).body).toEqual({
    namespace: 'civil',
    name: 'CEDULA',
    removed: true,
  })
  expect(await types()).not.toContainEqual(expect.objectContaining({ name: 'CEDULA' }))
})

it('a registry is added, is known to the next call, and says what its removal would end', async () => {
  expect(await refusal('/registries/social/remove', { dry_run: true })).toMatch(/^404 err\.request\.not_found /)
  const added = await post('/registries', { kind: 'social' })
  expect([added.status, added.body]).toMatchObject([201, { namespace: 'social', environment: 'live' }])
  expect((await post('/registries/social/remove', { dry_run: true })).body).toMatchObject({
    dry_run: true,
    records: { Member: 0, Group: 0 },
    pending: { subscriptions: 0, requests: 0, deliveries: 0, outbox: 0 },
  })
  expect(await refusal('/registries', { kind: 'social' })).toMatch(/^400 err\.request\.bad /)
  expect(await refusal('/registries', { kind: 'cows' })).toMatch(/^400 err\.request\.bad kind: /)
})
