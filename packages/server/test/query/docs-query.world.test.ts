/** docs/query-reference.md, further-rows.txt and docs/query.md say what is so: each row is asked over HTTP, each command is run. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { generate } from '@rollcall/synthetic'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postSearch, type TestParticipant, type TestServer, testServer } from '../server.ts'
import { type Row, readRows, records, shellBlocks } from './docs-page.ts'

const rows = readRows()
let server: TestServer
let peer: TestParticipant

beforeAll(async () => {
  server = await testServer()
  peer = await server.participant('spmis.demo')
  for (const [namespace, documents] of records) await server.registry(namespace, [...documents.values()])
})
afterAll(() => server.close())

async function ask({ criteria, namespace }: Row) {
  const answer = await postSearch(server, peer, [{ search_criteria: criteria }], namespace)
  expect(answer.status).toBe(200)
  return answer.body.message.search_response[0]
}

/** The page's names of the records answered, in their order. */
function namesOf(namespace: string, answered: readonly object[]): string[] {
  const known = [...(records.get(namespace) ?? [])]
  return answered.map((record) => {
    const found = known.find(([, document]) => equals(document, record))
    return found?.[0] ?? 'another record'
  })
}

const equals = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other)
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  )

const CHECKS: Readonly<Record<Row['expects'], (row: Row, item: Awaited<ReturnType<typeof ask>>) => void>> = {
  Finds({ criteria, namespace, expected }, item) {
    expect(item.status_reason_message).toBeUndefined()
    const found = namesOf(namespace, item.data.reg_records)
    const wanted = expected === 'none' ? [] : expected.split(', ')
    if ('sort' in criteria) expect(found).toEqual(wanted)
    else expect(found.toSorted()).toEqual(wanted.toSorted())
  },
  Answers({ expected }, item) {
    expect(item.status_reason_message).toBeUndefined()
    expect(item.data.reg_records).toEqual(JSON.parse(expected.slice(1, -1)))
  },
  Refused({ expected }, item) {
    const [, code, message] = /^`([a-z_.]+)` (.+)$/.exec(expected) ?? []
    expect({ status: item.status, code: item.status_reason_code }).toEqual({ status: 'rjct', code })
    // "..." stands for the rest of a list.
    const shown = message?.endsWith(', ...') ? message.slice(0, -'...'.length) : null
    if (shown === null) expect(item.status_reason_message).toBe(message)
    else expect(item.status_reason_message.slice(0, shown.length)).toBe(shown)
  },
}

describe('the tables', () => {
  it('are there, and every registry and every form is in them', () => {
    expect(rows.length).toBeGreaterThan(150)
    expect(new Set(rows.map(({ namespace }) => namespace))).toEqual(new Set(records.keys()))
    expect(new Set(rows.map(({ expects }) => expects))).toEqual(new Set(['Finds', 'Answers', 'Refused']))
  })

  it.each(rows.map((row) => [row.section, row.namespace, row.shown, row] as const))(
    '%s, %s: %s',
    async (_section, _namespace, _shown, row) => CHECKS[row.expects](row, await ask(row)),
  )
})

/** Where the demo listens, in the page's commands. */
const DEMO = 'http://127.0.0.1:8080'

/** The search of the tutorial for integrators. */
const tutorial = readFileSync(new URL('../../../../docs/tutorial-integrator.md', import.meta.url), 'utf8')
const [, tutorialSearch = ''] = /```sh\n(curl [^`]*"predicate"[^`]*)\n```/.exec(tutorial) ?? []

describe('the commands', () => {
  it('of the tutorial is there', () => expect(tutorialSearch).toContain('attribute_name'))

  it('find people of the demo as they are pasted', async () => {
    const demo = await testServer()
    try {
      const { token } = await demo.participant('demo.spmis.example')
      for (const kind of ['civil', 'social', 'ibr']) {
        await demo.registry(kind, [...generate(kind, { count: 200, seed: 'demo' })])
      }
      const script = [...shellBlocks, `${tutorialSearch}; echo`].join('\n').replaceAll(DEMO, demo.url)
      const env = { PATH: process.env.PATH ?? '', TOKEN: token }
      const { stdout } = await promisify(execFile)('bash', ['-c', `set -e\n${script}`], { env })
      const answers = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      // The first block only says how to ask.
      expect(answers).toHaveLength(shellBlocks.length)
      for (const { message } of answers) {
        expect(message.search_response).toHaveLength(1)
        const [item] = message.search_response
        expect(item.status_reason_message).toBeUndefined()
        expect(item.data.reg_records.length).toBeGreaterThan(0)
      }
    } finally {
      await demo.close()
    }
  })
})
