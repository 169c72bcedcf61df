/** Acts about participants that may wait for a second operator. */

import { setGrant } from '@rollcall/admin/grants/grant-changes'
import { addParticipantKeys } from '@rollcall/admin/participants/keys'
import { addParticipant, setParticipantStatus } from '@rollcall/admin/participants/participants'
import { allowParticipantHost } from '@rollcall/admin/participants/policy'
import { promoteParticipant } from '@rollcall/admin/participants/promote'
import { setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { saveCheck } from '@rollcall/participants/store/participant-checks'
import { setMessagePolicy } from '@rollcall/participants/store/participants'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { acting } from '../../admin/test/acting.ts'
import { LOOPBACK } from './deliveries.ts'
import { type ActServer, OUTDATED, type ReadyActs } from './proposed-act.ts'

export const actsOfParticipants = ({ database, db, deps, fresh, jwk, peer, rowOf, of }: ActServer): ReadyActs => ({
  async 'grant set'() {
    const { sender_id } = await peer({}, { see: ['birth_date'] })
    const terms = { operations: 'all', see: 'all', basis: 'law' } as const
    const narrow = { ...terms, see: [] }
    return {
      words: ['grant', 'set', sender_id, 'civil', '--file', '-'],
      stdin: JSON.stringify(terms),
      path: `/registries/civil/grants/${sender_id}`,
      body: { terms },
      shows: 'birth_date',
      hides: [],
      refusal: OUTDATED,
      meanwhile: () => setGrant(acting(database), { sender_id, namespace: 'civil', terms: narrow }),
    }
  },
  async 'participant add'() {
    const sender_id = `new-${fresh()}.example`
    const body = { sender_id, name: 'New', grants: { civil: { operations: ['search'], see: [], basis: 'law' } } }
    return {
      words: ['participant', 'add', sender_id, '--name', 'New', '--grant', '-'],
      stdin: JSON.stringify(body.grants),
      path: '/participants',
      body,
      shows: sender_id,
      hides: [],
      refusal: /exists already$/,
      meanwhile: () => addParticipant(acting(database), { sender_id, name: 'Old' }),
    }
  },
  async 'participant key add'() {
    const one = await peer()
    const keys = jwk()
    return {
      words: ['participant', 'key', 'add', one.sender_id, '-'],
      stdin: keys,
      path: of(one, 'keys'),
      body: { keys },
      shows: 'thumbprint',
      hides: [],
      refusal: OUTDATED,
      meanwhile: () => addParticipantKeys(acting(database), { sender_id: one.sender_id, keys: jwk('k-2') }),
    }
  },
  async 'participant policy'() {
    const one = await peer()
    return {
      words: ['participant', 'policy', one.sender_id, '--signature', 'off', '--allow-unsigned'],
      path: of(one, 'policy'),
      body: { signature_policy: 'off', allow_unsigned: true },
      shows: '"if-present"',
      hides: [],
      refusal: OUTDATED,
      meanwhile: () => setMessagePolicy(db, one.sender_id, { signature_policy: 'required', allow_unsigned: false }),
    }
  },
  async 'participant host allow'() {
    const one = await peer()
    const host = { host: 'spmis.internal', ports: [8443] }
    return {
      words: ['participant', 'host', 'allow', one.sender_id, 'spmis.internal', '--port', '8443'],
      path: of(one, 'hosts'),
      body: host,
      shows: 'spmis.internal',
      hides: [],
      refusal: OUTDATED,
      meanwhile: () =>
        allowParticipantHost(acting(database), { sender_id: one.sender_id, host: 'spmis.internal', private: true }),
    }
  },
  async 'participant callback'() {
    const one = await peer({ outgoing: [LOOPBACK] })
    const { id } = await rowOf(one)
    const [origin, token] = ['http://127.0.0.1:9', 's3cret-value']
    const body = { default_url: `${origin}/in`, auth: 'bearer', token, origin }
    return {
      words: [
        'participant',
        'callback',
        one.sender_id,
        '--default-url',
        body.default_url,
        '--auth',
        'bearer',
        '--token-file',
        '-',
      ],
      stdin: token,
      path: of(one, 'callback'),
      body,
      shows: `${origin}/in`,
      hides: [token],
      refusal: OUTDATED,
      meanwhile: () => setCallbackSettings(db, id, { default_url: `${origin}/other` }),
    }
  },
  async 'participant secret rotate'() {
    const one = await peer()
    return {
      words: ['participant', 'secret', 'rotate', one.sender_id],
      path: of(one, 'secrets'),
      body: {},
      shows: 'a new one',
      hides: [],
      refusal: OUTDATED,
      meanwhile: () => setMessagePolicy(db, one.sender_id, { signature_policy: 'required', allow_unsigned: false }),
    }
  },
  async 'participant enable'() {
    const one = await peer()
    const { sender_id } = one
    await setParticipantStatus(database, { sender_id, status: 'disabled' })
    return {
      words: ['participant', 'enable', sender_id],
      path: of(one, 'enable'),
      body: {},
      shows: '"disabled"',
      hides: [],
      refusal: OUTDATED,
      meanwhile: () => setParticipantStatus(database, { sender_id, status: 'active' }),
    }
  },
  async 'participant promote'() {
    const one = await peer({ environment: 'sandbox' })
    const [participant, registry] = [await rowOf(one), await requireRegistry(db, 'civil-test')]
    const now = new Date()
    await saveCheck(db, { participant, registry, since: now }, { checked_at: now, version: '1', passed: true, steps: [] })
    const input = { sender_id: one.sender_id, keys: jwk() }
    return {
      words: ['participant', 'promote', one.sender_id, '--key', '-'],
      stdin: input.keys,
      path: of(one, 'promote'),
      body: { keys: input.keys },
      shows: '"live"',
      hides: [],
      refusal: OUTDATED,
      meanwhile: () => promoteParticipant(acting(deps), input),
    }
  },
})
