import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isJsonObject, type JsonValue } from '@rollcall/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { startedDatabase } from '../../../keys/test/postgres.ts'
import { auditing, personAs } from '../../../settings/test/audit.ts'
import { acting } from '../../test/acting.ts'
import { makeEvidence } from './evidence.ts'
import { verifyEvidence } from './evidence-check.ts'

const database = await startedDatabase()
afterAll(() => database.close())
const { deps, addEntry, sign } = auditing(database)

const message = (message_id: string) => ({ message_id, digest: 'ab'.repeat(32), kid: 'k1', signature: 's' })
await addEntry({ operation: 'before' })
await addEntry({ operation: 'one', request: message('asked-1'), reply: message('answered-1') }, [
  personAs('seen', 'UIN:SECRET-1'),
])
await addEntry({ operation: 'beside' })
await addEntry({ operation: 'two', kind: 'callback', request: message('asked-1') })
await sign()

const evidenceOf = async (message_id: string) => JSON.parse(JSON.stringify(await makeEvidence(acting(deps), { message_id })))
const check = (evidence: unknown, kid?: string) => verifyEvidence({}, { evidence, kid })

describe('evidence', () => {
  it('has every entry of a message, and is verified without the database', async () => {
    const evidence = await evidenceOf('asked-1')
    const { accounts, kids } = await check(evidence)
    expect(accounts).toMatchObject([
      { operation: 'one', sequence: 2, request: message('asked-1'), reply: message('answered-1') },
      { operation: 'two', sequence: 4, kind: 'callback' },
    ])
    expect(kids).toEqual([evidence.kid])
    expect(await check(evidence, evidence.kid)).toMatchObject({ kids })
    await expect(check(evidence, 'another')).rejects.toThrow('kid: the evidence is signed with another key')
    expect(JSON.stringify(evidence)).not.toContain('SECRET-1')
    expect((await check(await evidenceOf('answered-1'))).accounts).toMatchObject([{ operation: 'one' }])
  })

  it('does not hold when any member of it is altered, removed or added', async () => {
    const evidence = await evidenceOf('asked-1')
    const altered = [...alterations(evidence)]
    expect(altered.length).toBeGreaterThan(60)
    for (const [what, one] of altered) {
      await expect(check(one), what).rejects.toThrow(/^evidence|^accounts|^keys/)
    }
  })

  it('does not hold when it is signed again with another key that calls itself the same', async () => {
    const evidence = await evidenceOf('asked-1')
    const [key] = evidence.keys
    const jwk = { ...key.jwk, x: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }
    await expect(check({ ...evidence, keys: [{ ...key, jwk }] })).rejects.toThrow(
      'keys[0]: kid is not the fingerprint of an Ed25519 key',
    )
  })

  it('is verified by the procedure of the documentation', async () => {
    const page = await readFile(new URL('../../../../docs/audit-log.md', import.meta.url), 'utf8')
    const [, script = ''] = /```js\n(.*?)```/s.exec(page) ?? []
    const folder = await mkdtemp(join(tmpdir(), 'rollcall-evidence-'))
    const run = async (evidence: unknown) => {
      await writeFile(join(folder, 'check.mjs'), script)
      await writeFile(join(folder, 'evidence.json'), JSON.stringify(evidence))
      return promisify(execFile)(process.execPath, ['check.mjs'], { cwd: folder })
    }
    try {
      const evidence = await evidenceOf('asked-1')
      expect((await run(evidence)).stdout).toContain('"operation":"one"')
      evidence.accounts[0].entries[0].entry = evidence.accounts[0].entries[0].entry.replace('one', 'two')
      await expect(run(evidence)).rejects.toThrow('the checkpoint signs other entries')
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('is of one participant, also where another one has used the same message_id', async () => {
    for (const participant of ['first.example', 'second.example'])
      await addEntry({ participant, operation: participant, request: message('shared-1') })
    await sign()
    await expect(makeEvidence(acting(deps), { message_id: 'shared-1' })).rejects.toThrow(
      'participant: several have used this message_id; name one',
    )
    const participant = 'second.example'
    const evidence = await makeEvidence(acting(deps), { message_id: 'shared-1', participant })
    expect((await check(evidence)).accounts).toMatchObject([{ participant }])
  })

  it('is not made of more entries than it has room for', async () => {
    for (let at = 0; at <= 100; at += 1) await addEntry({ request: message('often-1') })
    await sign()
    await expect(makeEvidence(acting(deps), { message_id: 'often-1' })).rejects.toThrow(
      'more than 100 entries are of this message; evidence has at most so many',
    )
  })

  it('is not made of a message that has no audit entry, or not signed yet', async () => {
    await expect(makeEvidence(acting(deps), { message_id: 'nobody-1' })).rejects.toThrow(
      'no message with this message_id is in the audit log',
    )
    await addEntry({ request: message('fresh-1') })
    await expect(makeEvidence(acting(deps), { message_id: 'fresh-1' })).rejects.toThrow(
      'no checkpoint signs this message yet; try again in a moment',
    )
  })
})

/** The document with one leaf altered, one member removed or added, or one element removed or repeated, for each there is. */
function* alterations(value: JsonValue, path = 'evidence'): Generator<[string, JsonValue]> {
  if (Array.isArray(value)) {
    yield [`${path}: one more`, [...value, ...value.slice(-1)].length > 1 ? [...value, value.at(-1) ?? 0] : [0]]
    for (const [at, element] of value.entries()) {
      yield [`${path}[${at}] removed`, value.toSpliced(at, 1)]
      for (const [what, one] of alterations(element, `${path}[${at}]`)) yield [what, value.with(at, one)]
    }
  } else if (isJsonObject(value)) {
    yield [`${path}: a member more`, { ...value, more: 1 }]
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _, ...rest } = value
      yield [`${path}.${name} removed`, rest]
      for (const [what, one] of alterations(member, `${path}.${name}`)) yield [what, { ...value, [name]: one }]
    }
  } else if (typeof value === 'string') {
    for (const at of [0, value.length - 1]) {
      const other = value[at] === 'A' ? 'B' : 'A'
      yield [`${path} altered at ${at}`, value.slice(0, at) + other + value.slice(at + 1)]
    }
  } else yield [`${path} altered`, value === null ? 'x' : typeof value === 'number' ? value + 1 : !value]
}
