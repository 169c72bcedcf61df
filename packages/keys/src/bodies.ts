/**
 * Encrypts stored messages (bodies). Each day (UTC) has a data key, which the vault encrypts; this key encrypts the
 * bodies of the day. Some seconds after the key of a day is destroyed, nobody can read the day's bodies any more, in
 * any table or replica, or in a backup that is made later.
 *
 * An encrypted body is `format (1) day (4) nonce (12) ciphertext tag (16)`, numbers of bytes in brackets: AES-256-GCM
 * over UTF-8, deflated unless it is short, bound to its context. The day is a number of days since 1970.
 */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync, type ZlibOptions } from 'node:zlib'
import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import type { Database } from '@rollcall/database/database'
import { isJsonObject, JsonError, type JsonObject, parseJson } from '@rollcall/protocol'
import { decrypt, ENCRYPTION_OVERHEAD, encrypt } from './encrypted-value.ts'
import { addBodyKey, findBodyKey } from './store/body-keys.ts'
import { ENCRYPTED_TABLES, withCurrentMasterKey } from './store/master-keys.ts'
import type { Vault } from './vault.ts'

/** Encrypts and decrypts stored messages, with a key for each day. */
export interface BodyEncryption {
  /**
   * Encrypts a body.
   * @param context the row and purpose of the body, such as `exchange <id> request`; only the same text decrypts it
   * @param day the day (UTC) whose key encrypts the body, as 'YYYY-MM-DD'; by default today
   */
  encryptBody(text: string, context: string, day?: string): Promise<Buffer>
  /** Decrypts the body of a stored message. @throws BodyUnreadable */
  decryptBody(encrypted: Uint8Array, context: string): Promise<string>
}

/**
 * A body that cannot be read. `forgotten`: there is no key of its day, because it was destroyed. `altered`: the body
 * was changed, or moved to another place, or this version cannot read its text.
 */
export class BodyUnreadable extends Error {
  override readonly name = 'BodyUnreadable'
  readonly reason: 'forgotten' | 'altered'

  constructor(reason: 'forgotten' | 'altered') {
    super(reason === 'forgotten' ? "the key of the body's day is destroyed" : 'the body was altered or moved')
    this.reason = reason
  }
}

/** The first byte of an encrypted body: whether the text was deflated before it was encrypted. */
const BODY_FORMATS = { deflated: 1, plain: 2 }
const BODY_HEAD_BYTES = 5
const DAY_MS = 86_400_000
/** The day 9999-12-31 as a number of days since 1970. */
const LAST_DAY_NUMBER = 2_932_896

/**
 * Bytes. A text up to this size is not deflated: the time for it is not worth the bytes. When such a text is encrypted, its row
 * stays below 2 KB. PostgreSQL stores values outside of their row when the row is larger.
 */
const MOST_UNDEFLATED_BYTES = 1_700
/** Bytes. A text up to this size is deflated on this thread: handing it to another thread costs more. */
const MOST_BYTES_DEFLATED_SYNC = 32_768
/** Bytes. A deflated text up to this size is inflated on this thread. The inflated text may be far larger. */
const MOST_BYTES_INFLATED_SYNC = 8_192

/** Level 1: a higher level takes twice the time and makes the text of a message only a few per cent smaller. */
const FAST_DEFLATE = { level: 1 }

const deflate = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw)
const inflate = promisify(inflateRaw)

/** Makes the encryption of bodies. `db` stores the keys of the days, and `vault` encrypts these keys. */
export function createBodyEncryption(db: Database, vault: Vault, clock: Clock = SYSTEM_CLOCK): BodyEncryption {
  const keys = createDayKeys(db, vault, clock)
  return {
    async encryptBody(text, context, day = dayText(clock.date())) {
      const number = dayNumber(day)
      const key = await keys.ensure(day)
      const { format, plaintext } = await deflateUnlessShort(Buffer.from(text))
      const head = Buffer.alloc(BODY_HEAD_BYTES)
      head[0] = format
      head.writeUInt32BE(number, 1)
      return encrypt(key, head, additionalData(head, context), plaintext)
    },

    async decryptBody(encrypted, context) {
      const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength)
      const format = bytes[0] ?? 0
      if (bytes.length < BODY_HEAD_BYTES + ENCRYPTION_OVERHEAD || !Object.values(BODY_FORMATS).includes(format))
        throw new BodyUnreadable('altered')
      const number = bytes.readUInt32BE(1)
      if (number > LAST_DAY_NUMBER) throw new BodyUnreadable('altered')
      const key = await keys.find(dayText(number * DAY_MS))
      if (key === null) throw new BodyUnreadable('forgotten')
      const plaintext = decrypt(key, BODY_HEAD_BYTES, additionalData(bytes.subarray(0, BODY_HEAD_BYTES), context), bytes)
      if (plaintext === null) throw new BodyUnreadable('altered')
      return (await inflateIfDeflated(format, plaintext)).toString()
    },
  }
}

async function deflateUnlessShort(text: Buffer): Promise<{ format: number; plaintext: Buffer }> {
  if (text.length <= MOST_UNDEFLATED_BYTES) return { format: BODY_FORMATS.plain, plaintext: text }
  const plaintext =
    text.length <= MOST_BYTES_DEFLATED_SYNC ? deflateRawSync(text, FAST_DEFLATE) : await deflate(text, FAST_DEFLATE)
  return { format: BODY_FORMATS.deflated, plaintext }
}

async function inflateIfDeflated(format: number, plaintext: Buffer): Promise<Buffer> {
  if (format === BODY_FORMATS.plain) return plaintext
  return plaintext.length <= MOST_BYTES_INFLATED_SYNC ? inflateRawSync(plaintext) : inflate(plaintext)
}

const additionalData = (head: Buffer, context: string): Buffer => Buffer.concat([head, Buffer.from(context)])

/** The number of a day since 1970. @throws RangeError it is not a day from 1970 to 9999 */
function dayNumber(day: string): number {
  const number = Date.parse(`${day}T00:00:00Z`) / DAY_MS
  if (number >= 0 && number <= LAST_DAY_NUMBER && dayText(number * DAY_MS) === day) return number
  throw new RangeError('a day is written YYYY-MM-DD')
}

const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** Milliseconds for which a day's key stays in memory. A process can use a destroyed key no longer than this. */
const DAY_KEY_MEMORY_MS = 5_000

/** Finds and makes the keys of days. They are stored in the database, and kept in memory for some seconds. */
function createDayKeys(db: Database, vault: Vault, { later }: Pick<Clock, 'later'>) {
  const { table, purpose } = ENCRYPTED_TABLES.body_key
  const cached = new Map<string, Promise<KeyObject | null>>()

  const remember = (day: string, key: Promise<KeyObject | null>): void => {
    cached.set(day, key)
    const drop = (): void => {
      if (cached.get(day) === key) cached.delete(day)
    }
    // A timer forgets the key, also when nobody asks for it again.
    later(drop, DAY_KEY_MEMORY_MS)
    // Failures and missing keys are not remembered: the key may exist a moment later.
    key.then((found) => found ?? drop(), drop)
  }

  const decryptKey = async (day: string, encrypted: Buffer): Promise<KeyObject> => {
    const bytes = await vault.decrypt(purpose, { table, id: day }, encrypted)
    const key = createSecretKey(bytes)
    bytes.fill(0)
    return key
  }

  const load = async (day: string): Promise<KeyObject | null> => {
    const encrypted = await findBodyKey(db, day)
    return encrypted === null ? null : decryptKey(day, encrypted)
  }

  /** Finds the key of a day; null when there is none, or it was destroyed. */
  const find = (day: string): Promise<KeyObject | null> => {
    const known = cached.get(day)
    if (known !== undefined) return known
    const key = load(day)
    remember(day, key)
    return key
  }

  return {
    find,
    /** Finds the key of a day, or makes it. */
    async ensure(day: string): Promise<KeyObject> {
      const found = await find(day)
      if (found !== null) return found
      const made = withCurrentMasterKey(async () => {
        const own = await vault.encrypt(purpose, { table, id: day }, randomBytes(32))
        return decryptKey(day, await addBodyKey(db, day, own))
      })
      remember(day, made)
      return made
    },
  }
}

/**
 * The largest nesting depth of a stored message: more than that of an accepted message (`limits.body_depth`), because a
 * stored reply nests records more deeply.
 */
const MOST_STORED_JSON_DEPTH = 1_000

/**
 * Parses a message that was stored as canonical JSON, up to `MOST_STORED_JSON_DEPTH`.
 * @throws BodyUnreadable this version cannot read it, for example because of a number that an earlier version accepted
 */
export function parseDecryptedBody(text: string): JsonObject {
  try {
    const message = parseJson(text, { maxDepth: MOST_STORED_JSON_DEPTH })
    if (isJsonObject(message)) return message
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  throw new BodyUnreadable('altered')
}
