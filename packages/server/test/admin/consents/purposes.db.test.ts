import { addPurpose, listPurposes, removePurpose } from '@rollcall/admin/consents/purposes'
import { revokeGrant, setGrant } from '@rollcall/admin/grants/grant-changes'
import { expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { subscribingServer } from '../../subscribing.ts'

const { server, newPeer } = await subscribingServer()
const { db } = server.database
const TERMS = { operations: ['search'], see: ['identifier'], basis: 'consent', purposes: ['relief'] } as const
const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: Error) => error.message,
  )

it('a grant names configured purposes alone, and they stay while it names them', async () => {
  const { sender_id } = await newPeer()
  const whose = { sender_id, namespace: 'civil' }
  expect(await refused(setGrant(acting({ db }), { ...whose, terms: TERMS }))).toBe(
    'terms.purposes: relief is no configured purpose; rollcall purpose add, or the member purposes of the configuration file, makes one',
  )
  await addPurpose(acting({ db }), { code: 'relief' })
  await addPurpose(acting({ db }), { code: 'relief', text: 'Disaster relief' })
  expect(await listPurposes({ db }, {})).toContainEqual({ code: 'relief', text: 'Disaster relief' })
  await setGrant(acting({ db }), { ...whose, terms: TERMS })
  expect(await refused(removePurpose(acting({ db }), { code: 'relief' }))).toBe(
    'code: a grant names this purpose; change it first (rollcall grant list)',
  )
  await revokeGrant(acting({ db }), whose)
  await removePurpose(acting({ db }), { code: 'relief' })
  expect(await refused(removePurpose(acting({ db }), { code: 'relief' }))).toBe('code: there is no such purpose')
})

it.each([
  ['', undefined, 'code: must have 1 to 100 characters: letters, digits and . : / _ -'],
  ['a b', undefined, 'code: must have 1 to 100 characters: letters, digits and . : / _ -'],
  ['a'.repeat(101), undefined, 'code: must have 1 to 100 characters: letters, digits and . : / _ -'],
  ['a', ' ', 'text: must have 1 to 500 characters'],
  ['a', 'x'.repeat(501), 'text: must have 1 to 500 characters'],
])('a purpose %j with the text %j is refused', async (code, text, message) => {
  expect(await refused(addPurpose(acting({ db }), { code, ...(text !== undefined && { text }) }))).toBe(message)
})
