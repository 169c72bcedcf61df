import { Writable } from 'node:stream'
import { programSchemaVersion } from '@rollcall/database/schema-version'
import { expect, test } from 'vitest'
import { createLog } from './log.ts'
import { createSchemaVersionWatch } from './schema.ts'

function watch(versions: () => readonly string[]) {
  const lines: Readonly<Record<string, unknown>>[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      const { time: _time, ...line } = JSON.parse(String(chunk))
      lines.push(line)
      done()
    },
  })
  const log = createLog({ level: 'info', destination })
  return { lines, watch: createSchemaVersionWatch({ log, read: async () => versions() }) }
}

test('a database of this version is not ahead', async () => {
  const { lines, watch: schema } = watch(() => [programSchemaVersion()])
  expect(await schema.check()).toEqual({ version: programSchemaVersion(), ahead: 0 })
  expect([schema.isUsable(), lines]).toEqual([true, []])
})

test('one version ahead is said once, and used', async () => {
  const { lines, watch: schema } = watch(() => [programSchemaVersion(), '999.0.0'])
  expect(await schema.check()).toEqual({ version: '999.0.0', ahead: 1 })
  await schema.check()
  expect(schema.isUsable()).toBe(true)
  expect(lines).toMatchObject([
    {
      schema_version: programSchemaVersion(),
      database_schema_version: '999.0.0',
      msg: 'the database is one version ahead of this node: upgrade it soon',
    },
  ])
})

test('more than one version ahead, the node must stop', async () => {
  const { lines, watch: schema } = watch(() => [programSchemaVersion(), '999.0.0', '999.1.0'])
  await schema.check()
  expect(schema.isUsable()).toBe(false)
  expect(await schema.outdated).toEqual({ version: '999.1.0', ahead: 2 })
  expect(lines).toMatchObject([
    { database_schema_version: '999.1.0', msg: 'the database is more than one version ahead of this node: it stops' },
  ])
})

test('what was found before counts on while the database does not answer', async () => {
  let away = false
  const { lines, watch: schema } = watch(() => {
    if (away) throw new Error('away')
    return [programSchemaVersion(), '999.0.0']
  })
  await schema.check()
  away = true
  expect(await schema.check()).toEqual({ version: '999.0.0', ahead: 1 })
  expect(lines.at(-1)?.msg).toBe('the version of the schema could not be read')
})
