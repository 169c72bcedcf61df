/** The steps for the keys of a participant in a configuration file. */

import { readPublicKeyFile } from '@rollcall/participants/directory/key-file'
import type { ParticipantKey } from '@rollcall/participants/store/participant-keys'
import { type PublicKey, readPublicKey } from '@rollcall/protocol'
import { AdminRefusal } from '../admin-function.ts'
import { dateOf } from '../members.ts'
import { addParticipantKeys, revokeParticipantKey } from '../participants/keys.ts'
import type { KeyEntry } from './file.ts'
import type { AskerFacts } from './lockout.ts'
import type { StoredConfiguration } from './read.ts'
import { type ConfigStep, type FilePlace, refusalAt, withRefusalsAt } from './steps.ts'

interface KeysToPlan {
  readonly sender_id: string
  readonly wanted: readonly KeyEntry[] | undefined
  readonly stored: StoredConfiguration
  readonly at: FilePlace
  /** The time at which new keys become valid (default: now). */
  readonly now?: Date
}

interface PlannedKeys {
  readonly steps: readonly ConfigStep[]
  /** The keys of the participant after the file is applied. */
  readonly keys: AskerFacts['keys']
}

/**
 * Plans the steps for the keys of one participant of a file. If the file has no list of keys, the participant's keys stay.
 * @throws AdminRefusal a key cannot be read, is private, stands in the list twice, or belongs to another participant
 */
export async function planKeys({ sender_id, wanted, stored, at, now = new Date() }: KeysToPlan): Promise<PlannedKeys> {
  const { own, others } = keysOfSenderAndOthers(stored, sender_id)
  if (wanted === undefined) return { steps: [], keys: own }
  const read = await Promise.all(
    wanted.map(async (entry, index) => {
      const place = [...at, index]
      const key = await withRefusalsAt(place, () => readKey(sender_id, entry))
      if (others.has(key.thumbprint)) throw refusalAt(place, 'this key belongs to another participant')
      return { place, entry, key }
    }),
  )
  const twice = read.find(({ key }, index) => read.slice(0, index).some((one) => one.key.thumbprint === key.thumbprint))
  if (twice !== undefined) throw refusalAt(twice.place, 'this key stands in the list already')
  const gone = own.filter(({ thumbprint }) => !read.some(({ key }) => key.thumbprint === thumbprint))
  const beforeOf = (key: PublicKey) => own.find(({ thumbprint }) => thumbprint === key.thumbprint)
  const keys = read.map(({ key, entry }) => {
    const { valid_from, valid_until } = readKeyTimes(entry)
    const before = beforeOf(key)
    return {
      use: key.use,
      valid_from: valid_from ?? before?.valid_from ?? now,
      valid_until: valid_until === undefined ? (before?.valid_until ?? null) : valid_until,
    }
  })
  const steps = [
    ...gone.map(
      (key): ConfigStep => ({
        at,
        change: 'remove',
        from: keyFacts(key),
        to: null,
        act: 'participant key revoke',
        make: (deps) => revokeParticipantKey(deps, { sender_id, kid: key.kid }),
      }),
    ),
    ...read.flatMap(({ place, entry, key }): ConfigStep[] => {
      const before = beforeOf(key)
      if (before !== undefined && isKeyAsWanted(before, key, entry)) return []
      const { valid_from, valid_until } = entry
      const { kid, use } = key
      const keys = textOfKey(entry)
      return [
        {
          at: place,
          change: before === undefined ? 'add' : 'change',
          from: before === undefined ? null : keyFacts(before),
          to: keyFacts({ ...key, ...readKeyTimes(entry) }),
          act: 'participant key add',
          make: (deps) => addParticipantKeys(deps, { sender_id, keys, kid, use, valid_from, valid_until }),
        },
      ]
    }),
  ]
  return { steps, keys }
}

function keysOfSenderAndOthers({ participants }: StoredConfiguration, sender_id: string) {
  const own = participants.find(({ participant }) => participant.sender_id === sender_id)
  const others = participants.filter((row) => row !== own).flatMap(({ keys }) => keys)
  return { own: own?.keys ?? [], others: new Set(others.map(({ thumbprint }) => thumbprint)) }
}

const textOfKey = ({ public_key }: KeyEntry): string => (typeof public_key === 'string' ? public_key : JSON.stringify(public_key))

async function readKey(sender_id: string, entry: KeyEntry): Promise<PublicKey> {
  const [jwk, ...more] = readPublicKeyFile(textOfKey(entry))
  if (jwk === undefined || more.length > 0) throw new AdminRefusal('public_key: must be one key')
  const { kid, use } = entry
  return readPublicKey(jwk, { sender_id, ...(kid !== undefined && { kid }), ...(use !== undefined && { use }) })
}

/** True when a stored key is as the file wants it. Times that the file leaves out are not compared. */
function isKeyAsWanted(before: ParticipantKey, key: PublicKey, entry: KeyEntry): boolean {
  const { valid_from, valid_until } = readKeyTimes(entry)
  return (
    before.kid === key.kid &&
    before.use === key.use &&
    (valid_from === undefined || valid_from?.getTime() === before.valid_from.getTime()) &&
    (valid_until === undefined || valid_until?.getTime() === before.valid_until?.getTime())
  )
}

const readTime = (text: string | null | undefined): Date | null | undefined => (typeof text === 'string' ? dateOf(text) : text)

const readKeyTimes = ({ valid_from, valid_until }: KeyEntry) => ({
  valid_from: readTime(valid_from),
  valid_until: readTime(valid_until),
})

interface KeyFacts {
  readonly kid: string
  readonly use: string
  readonly thumbprint: string
  readonly valid_from?: Date | null | undefined
  readonly valid_until?: Date | null | undefined
}

/** The members of a key in a list of changes. The thumbprint is there in place of the public key. */
const keyFacts = ({ kid, use, thumbprint, valid_from, valid_until }: KeyFacts) => ({
  kid,
  use,
  thumbprint,
  ...(valid_from && { valid_from: valid_from.toISOString() }),
  ...(valid_until && { valid_until: valid_until.toISOString() }),
})
