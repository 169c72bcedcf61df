/** Calls to a running demo: to its page, its receiver of callbacks, and its admin API. */
import { expect } from 'vitest'
import type { DemoFile } from '../src/demo/demo-file.ts'
import type { Running } from './command.ts'

// biome-ignore lint/suspicious/noExplicitAny: the shapes of answers are what is asserted
type Answer = any

/** @param now the process of the demo and its file: a test may start it again */
export function demoCalls(now: () => { readonly running: Running; readonly demo: DemoFile }) {
  /** A call of its admin API. */
  const admin = (path: string, { base_url, token } = now().demo.admin) =>
    fetch(`${base_url}/admin/v1/${path}`, { headers: { authorization: `Bearer ${token}` } })
  const adminJson = async (path: string): Promise<Answer> => (await admin(path)).json()
  const adminPost = async (path: string, body: object): Promise<Answer> => {
    const { base_url, token } = now().demo.admin
    const answer = await fetch(`${base_url}/admin/v1/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    return answer.json()
  }
  /** The address of the demo's own page, as programs read it. */
  const demoPage = (): string => /break it and mend it: (\S+)/.exec(now().running.output().stdout)?.[1] ?? expect.fail('no page')
  const demoState = async (): Promise<Answer> => (await fetch(demoPage())).json()
  return {
    admin,
    adminJson,
    adminPost,
    demoPage,
    demoState,
    receiverState: async (): Promise<Answer> => (await demoState()).receiver,
    demoSwitch: async (path: string): Promise<Answer> => (await fetch(`${demoPage()}/${path}`, { method: 'POST' })).json(),
    addressOfCallbacks: async (): Promise<string | null> =>
      (await adminJson(`participants/${now().demo.participant.sender_id}`)).callback.default_url,
    /** The samples of the civil registry, as queries. */
    civilQueries: () =>
      (now().demo.registries.find(({ namespace }) => namespace === 'civil')?.samples ?? []).map(
        ({ identifier_type: type, identifier_value: value }) => ({ type, value }),
      ),
  }
}
