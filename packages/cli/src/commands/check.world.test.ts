import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoServer } from '../../test/asking.ts'
import { rollcall } from '../../test/command.ts'

let demo: Awaited<ReturnType<typeof demoServer>>
beforeAll(async () => {
  demo = await demoServer()
})
afterAll(() => demo.close())

/** The name of each step and its state, of a text that is printed. */
const states = (text: string) =>
  Object.fromEntries([...text.matchAll(/^(passed|missing|skipped) +(\w+) /gm)].map(([, state, name]) => [name, state]))

test('a system that asks synchronously only is checked by one step', async () => {
  const words = ['check', 'civil', '--identifier', 'UIN=0012', '--sync-only']
  const { code, stdout, stderr } = await rollcall(words, demo.home.env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(states(stdout)).toEqual({ search: 'passed' })
  expect(stdout).toMatch(
    /^passed {3}search +sent: a signed search to .*; came: 1 of 1 records, in a signed answer that verifies$/m,
  )
  expect(stdout).toMatch(/every step has passed\n$/)
})

test('without the operator what only the registry can begin is missing, and says who begins it: exit code 1', async () => {
  const words = ['check', 'civil', '--identifier', 'UIN=0012', '--event', 'LiveBirth', '--wait', '3', '--json']
  const { code, stdout } = await rollcall(words, demo.home.env)
  const { passed, steps } = JSON.parse(stdout)
  expect([code, passed]).toEqual([1, false])
  const named = Object.fromEntries(steps.map(({ name, ...step }: { name: string }) => [name, step]))
  expect(named).toMatchObject({
    search: { state: 'passed' },
    callback: { state: 'passed' },
    subscribe: { state: 'passed' },
    unsubscribe: { state: 'passed' },
    retry: { state: 'missing', came: expect.stringContaining('rollcall participant check') },
    notification: { state: 'missing', came: expect.stringContaining('rollcall participant check') },
  })
})

test('a person who is not there, and a secret that is wrong, are said with what to do', async () => {
  const unknown = await rollcall(['check', 'civil', '--identifier', 'UIN=9999'], demo.home.env)
  expect(unknown.code).toBe(1)
  expect(unknown.stdout).toMatch(/^missing {2}search .*name a person of this registry with --identifier$/m)
  expect(states(unknown.stdout)).toEqual({ search: 'missing' })

  const url = `${demo.server.url}/civil/v1.0.0`
  const words = ['check', '--url', url, '--sender-id', 'a.example', '--client-id', 'nobody', '--identifier', 'UIN=0012']
  const refused = await rollcall(words, { ROLLCALL_CLIENT_SECRET: 'wrong' })
  expect(refused.code).toBe(1)
  expect(refused.stdout).toMatch(/^missing {2}search .*the registry gave no access token: invalid_client/m)
})
