/** Two-person approval on the command line: every command whose act waits, and `rollcall proposal`. */

import { addOperator } from '@rollcall/admin/operators/operators'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { APPROVABLE_ACTS } from '../../../admin/src/approvals/acts.ts'
import { acting } from '../../../admin/test/acting.ts'
import { type ProposedActs, proposedActs } from '../../../server/test/proposed-acts.ts'
import { databaseUrl, rollcall } from '../../test/command.ts'

let world: ProposedActs
/** The environment of each person: a command has the token of who gives it. */
let env: Record<'nobody' | 'ada' | 'bea' | 'reader', Record<string, string>>

beforeAll(async () => {
  world = await proposedActs()
  const { database } = world.server
  const nobody = {
    DATABASE_URL: databaseUrl(database.connection),
    ROLLCALL_OWNER_DATABASE_URL: databaseUrl(database.owner),
    ROLLCALL_TWO_PERSON: '1',
  }
  const of = async (name: string, role: 'own' | 'read' = 'own') => {
    const { token } = await addOperator(acting(database), { name, roles: [role] })
    return { ...nobody, ROLLCALL_OPERATOR_TOKEN: token }
  }
  env = { nobody, ada: await of('ada'), bea: await of('bea'), reader: await of('reader', 'read') }
})
afterAll(() => world.server.close())

type Person = keyof typeof env
const proposal = (by: Person, ...words: string[]) => rollcall(['proposal', ...words], env[by])

/** Proposes it as Ada. @returns its id */
async function proposed(name: string): Promise<string> {
  const act = await world.acts[name]?.()
  const { code, stdout, stderr } = await rollcall(act?.words ?? [], env.ada, act?.stdin)
  expect({ code, stdout, stderr }).toEqual({
    code: 5,
    stdout: '',
    stderr: expect.stringMatching(
      new RegExp(`^rollcall: nothing was changed: ${name} waits for a second operator, as proposal .* until `),
    ),
  })
  expect(stderr).toContain(act?.shows)
  for (const hidden of act?.hides ?? []) expect(stderr).not.toContain(hidden)
  const [, id = ''] = /rollcall proposal approve (\S+)\n/.exec(stderr) ?? []
  return id
}

test('each command whose act may wait ends with exit code 5, and only the admin API has the others', async () => {
  const withCommand: string[] = []
  for (const [name, ready] of Object.entries(world.acts)) {
    const { words } = await ready()
    // A replay waits only above 1,000 deliveries: changes.db.test.ts has it wait at fewer.
    if (words === undefined || name === 'deliveries change') continue
    withCommand.push(name)
    await proposed(name)
  }
  const others = APPROVABLE_ACTS.map(({ act }) => act.name).filter((name) => !withCommand.includes(name))
  expect(others.toSorted()).toEqual([
    ...['deliveries body', 'deliveries change', 'deliveries replay', 'messages bodies'],
    // Its source is a file: the tests of registries have it.
    'registry add',
  ])
})

describe('rollcall proposal', () => {
  test('lists, shows and approves; the act is done once', async () => {
    const id = await proposed('registry set')
    expect((await proposal('reader', 'list')).stdout).toMatch(new RegExp(`^${id} +registry set +waiting +ada `, 'm'))
    const shown = await proposal('bea', 'show', id)
    expect(shown.code).toBe(0)
    expect(shown.stdout).toMatch(
      /^act +registry set\nstate +waiting\nproposed by +ada at \S+Z\nlapses +\S+Z\ndecided by +a role: own\n/,
    )
    expect(shown.stdout).toContain('web_origins:\n    - []\n    + ["https://app-')
    expect(await proposal('bea', 'approve', id)).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^done: registry set, proposed by ada\n\{\n/),
    })
    expect(await proposal('bea', 'approve', id)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'rollcall: the proposal does not wait any more: it is done\n',
    })
    expect((await proposal('bea', 'list')).stdout).not.toContain(id)
    expect((await proposal('bea', 'list', '--all')).stdout).toContain(id)
  })

  test('is declined by another, with a token from a file', async () => {
    const id = await proposed('participant key add')
    const { ROLLCALL_OPERATOR_TOKEN: token, ...rest } = env.bea
    const words = ['proposal', 'decline', id, '--token-file', '-']
    expect(await rollcall(words, rest, `${token}\n`)).toEqual({
      code: 0,
      stdout: 'declined: participant key add, proposed by ada\n',
      stderr: '',
    })
  })

  test.each<[Person, string[], message: string]>([
    ['ada', ['approve'], 'who has proposed it cannot decide about it: another operator must'],
    ['ada', ['decline'], 'who has proposed it cannot decide about it: another operator must'],
    ['reader', ['approve'], 'this needs the role own'],
    ['nobody', ['approve'], 'an operator is needed: set ROLLCALL_OPERATOR_TOKEN, or give --token-file'],
    ['nobody', ['list'], 'an operator is needed: set ROLLCALL_OPERATOR_TOKEN, or give --token-file'],
    ['bea', ['show', 'x'], 'id: there is no proposal with this id'],
  ])('%s: %j is refused with exit code 1', async (by, [word = '', ...given], message) => {
    const id = word === 'list' || given.length > 0 ? given : [await proposed('hold remove')]
    expect(await proposal(by, word, ...id)).toEqual({ code: 1, stdout: '', stderr: `rollcall: ${message}\n` })
  })

  test('who gives no token proposes nothing', async () => {
    const act = await world.acts['hold remove']?.()
    const { code, stderr } = await rollcall(act?.words ?? [], env.nobody)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^rollcall: this needs two operators \(ROLLCALL_TWO_PERSON\)/)
  })
})
