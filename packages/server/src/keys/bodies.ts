/**
 * Bodies of messages that are kept: sealed with a data key a day (UTC), which the vault seals in turn. When a day's
 * key is destroyed its bodies cannot be read any more, in whatever table, replica or backup they lie.
 *
 * A sealed body is `format (1) | day (4) | nonce (12) | ciphertext | tag (16)`: AES-256-GCM over UTF-8, deflated
 * unless it is short, bound to its context. The day is a number of days since 1970.
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib'
import type { Database } from '../store/db/database.ts'
import { addBodyKey, deleteBodyKey, findBodyKey } from '../store/keys/body-keys.ts'
import { withCurrentMasterKey } from '../store/keys/master-keys.ts'
import { SEALED } from '../store/keys/sealed-tables.ts'
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

/** The first byte: what was sealed is deflated, or stands as it is. */
const FORMATS = { deflated: 1, plain: 2 }
const CIPHER = 'aes-256-gcm'
const HEAD = 5
const NONCE = 12
const TAG = 16
/** Milliseconds */
const DAY = 86_400_000
/** 9999-12-31 */
const LAST_DAY = 2_932_896

/** Bytes up to which a text is sealed as it is: deflating would take longer than all the rest. */
const SHORT = 1_024
/** Bytes up to which it is deflated on the spot: having a thread do it costs more than doing it. */
const MEDIUM = 32_768
/** The same for inflating; what is this small may have been far larger. */
const MEDIUM_DEFLATED = 8_192

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

export function createBodies(db: Database, vault: Vault): Bodies {
  const { table, purpose } = SEALED.body_key
  const openKey = (day: string, sealed: Buffer) => vault.open(purpose, { table, id: day }, sealed)

  const keys = createDayKeys({
    async find(day) {
      const sealed = await findBodyKey(db, day)
      return sealed === null ? null : openKey(day, sealed)
    },
    make: (day) =>
      withCurrentMasterKey(async () => {
        const own = await vault.seal(purpose, { table, id: day }, randomBytes(32))
        return openKey(day, await addBodyKey(db, day, own))
      }),
  })

  return {
    async sealBody(text, context, day = dayText(Date.now())) {
      const number = dayNumber(day)
      const key = await keys.ensure(day)
      const { format, plaintext } = await packed(Buffer.from(text))
      const head = Buffer.alloc(HEAD)
      head[0] = format
      head.writeUInt32BE(number, 1)
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG })
      cipher.setAAD(additionalData(head, context))
      return Buffer.concat([head, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
    },

    async openBody(sealed, context) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const format = bytes[0] ?? 0
      if (bytes.length < HEAD + NONCE + TAG || !Object.values(FORMATS).includes(format))
        throw new BodyClosed('altered')
      const number = bytes.readUInt32BE(1)
      if (number > LAST_DAY) throw new BodyClosed('altered')
      const key = await keys.find(dayText(number * DAY))
      if (key === null) throw new BodyClosed('forgotten')
      return (await unpacked(format, opened(bytes, key, context))).toString()
    },

    async forgetDay(day) {
      await deleteBodyKey(db, day)
      keys.drop(day)
    },
  }
}

async function packed(text: Buffer): Promise<{ format: number; plaintext: Buffer }> {
  if (text.length <= SHORT) return { format: FORMATS.plain, plaintext: text }
  const plaintext = text.length <= MEDIUM ? deflateRawSync(text) : await deflate(text)
  return { format: FORMATS.deflated, plaintext }
}

async function unpacked(format: number, plaintext: Buffer): Promise<Buffer> {
  if (format === FORMATS.plain) return plaintext
  return plaintext.length <= MEDIUM_DEFLATED ? inflateRawSync(plaintext) : inflate(plaintext)
}

/** @throws BodyClosed */
function opened(bytes: Buffer, key: KeyObject, context: string): Buffer {
  const nonce = bytes.subarray(HEAD, HEAD + NONCE)
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG })
  decipher.setAAD(additionalData(bytes.subarray(0, HEAD), context))
  decipher.setAuthTag(bytes.subarray(-TAG))
  const plaintext = decipher.update(bytes.subarray(HEAD + NONCE, -TAG))
  try {
    return Buffer.concat([plaintext, decipher.final()])
  } catch {
    throw new BodyClosed('altered')
  }
}

const additionalData = (head: Buffer, context: string): Buffer => Buffer.concat([head, Buffer.from(context)])

/** @throws RangeError no day from 1970 to 9999 */
function dayNumber(day: string): number {
  const number = Date.parse(`${day}T00:00:00Z`) / DAY
  if (number >= 0 && number <= LAST_DAY && dayText(number * DAY) === day) return number
  throw new RangeError('a day is written YYYY-MM-DD')
}

const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10)
