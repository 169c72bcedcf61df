/**
 * Bodies of messages that are kept: sealed with a data key a day (UTC), which the vault seals in turn. When a day's
 * key is destroyed its bodies cannot be read any more, in whatever table, replica or backup they lie.
 *
 * A sealed body is `format (1) | day (4) | nonce (12) | ciphertext | tag (16)`: AES-256-GCM over deflated UTF-8, bound
 * to its context. The day is a number of days since 1970.
 */
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { addBodyKey, deleteBodyKey, findBodyKey } from '../store/body-keys.ts'
import type { Database } from '../store/database.ts'
import { withCurrentMasterKey } from '../store/master-keys.ts'
import { SEALED } from '../store/sealed-tables.ts'
import { createDayKeys } from './day-keys.ts'
import type { Vault } from './vault.ts'

export interface Bodies {
  /**
   * @param context where it is kept, such as `exchange <correlation_id> request`: it opens there only
   * @param day 'YYYY-MM-DD' (UTC) whose key it shares; today unless said otherwise
   */
  sealBody(text: string, context: string, day?: string): Promise<Buffer>
  /** @throws BodyClosed */
  openBody(sealed: Uint8Array, context: string): Promise<string>
  /** Destroys a day's key: at once here, within seconds on other nodes. */
  forgetDay(day: string): Promise<void>
}

/** A body that cannot be read: `forgotten`, its day's key is destroyed; `altered`, or kept for another context. */
export class BodyClosed extends Error {
  override readonly name = 'BodyClosed'
  readonly reason: 'forgotten' | 'altered'

  constructor(reason: 'forgotten' | 'altered') {
    super(reason === 'forgotten' ? "the key of the body's day is destroyed" : 'the body was altered or moved')
    this.reason = reason
  }
}

const FORMAT = 1
const HEAD = 5
const NONCE = 12
const TAG = 16
/** Milliseconds */
const DAY = 86_400_000
/** 9999-12-31 */
const LAST_DAY = 2_932_896

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

export function createBodies(db: Database, vault: Vault): Bodies {
  const { table, purpose } = SEALED.body_key
  const opened = (day: string, sealed: Buffer) => vault.open(purpose, { table, id: day }, sealed)

  const keys = createDayKeys({
    async find(day) {
      const sealed = await findBodyKey(db, day)
      return sealed === null ? null : opened(day, sealed)
    },
    make: (day) =>
      withCurrentMasterKey(async () => {
        const own = await vault.seal(purpose, { table, id: day }, randomBytes(32))
        return opened(day, await addBodyKey(db, day, own))
      }),
  })

  return {
    async sealBody(text, context, day = dayText(Date.now())) {
      const head = Buffer.alloc(HEAD)
      head[0] = FORMAT
      head.writeUInt32BE(dayNumber(day), 1)
      const key = await keys.ensure(day)
      const nonce = randomBytes(NONCE)
      const plaintext = await deflate(text)
      const sealed = await crypto.subtle.encrypt(parameters(nonce, head, context), key, plaintext)
      return Buffer.concat([head, nonce, new Uint8Array(sealed)])
    },

    async openBody(sealed, context) {
      const bytes = Buffer.from(sealed)
      if (bytes.length < HEAD + NONCE + TAG || bytes[0] !== FORMAT) throw new BodyClosed('altered')
      const number = bytes.readUInt32BE(1)
      if (number > LAST_DAY) throw new BodyClosed('altered')
      const day = dayText(number * DAY)
      const key = await keys.find(day)
      if (key === null) throw new BodyClosed('forgotten')
      const head = bytes.subarray(0, HEAD)
      const nonce = bytes.subarray(HEAD, HEAD + NONCE)
      const plaintext = await crypto.subtle
        .decrypt(parameters(nonce, head, context), key, bytes.subarray(HEAD + NONCE))
        .catch(() => {
          throw new BodyClosed('altered')
        })
      return (await inflate(plaintext)).toString()
    },

    async forgetDay(day) {
      await deleteBodyKey(db, day)
      keys.drop(day)
    },
  }
}

function parameters(nonce: Buffer<ArrayBuffer>, head: Buffer<ArrayBuffer>, context: string) {
  const additionalData = Buffer.concat([head, Buffer.from(context)])
  return { name: 'AES-GCM', iv: nonce, additionalData, tagLength: TAG * 8 }
}

/** @throws RangeError no day from 1970 to 9999 */
function dayNumber(day: string): number {
  const number = Date.parse(`${day}T00:00:00Z`) / DAY
  if (number >= 0 && number <= LAST_DAY && dayText(number * DAY) === day) return number
  throw new RangeError('a day is written YYYY-MM-DD')
}

const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10)
