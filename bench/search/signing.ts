/** Signs as a client does, a while before the message is sent. */
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { Database } from '@rollcall/database/database'
import { addParticipantKey } from '@rollcall/participants/store/participant-keys'
import { findParticipant } from '@rollcall/participants/store/participants'
import { DEFAULT_SIGNATURE_PROFILE, importSigningKey, isJsonObject, parseJson, readPublicKey, sign } from '@rollcall/protocol'
import { ASKER_SENDER, question } from './question.ts'

const KID = 'bench'
/** The beginning of a private Ed25519 key in PKCS #8; its 32 bytes follow (RFC 8410, 7). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Always the same: a database that is kept knows it already. It signs nothing but messages of a benchmark. */
export function askerKey(): { privateKey: KeyObject; publicJwk: JsonWebKey } {
  const der = Buffer.concat([PKCS8, Buffer.alloc(32, 'bench')])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return { privateKey, publicJwk: createPublicKey(privateKey).export({ format: 'jwk' }) }
}

/** Makes the asker's key known to the registry. */
export async function registerAskerKey(db: Database): Promise<void> {
  const asker = await findParticipant(db, ASKER_SENDER)
  if (asker === null) throw new Error(`there is no participant ${ASKER_SENDER}`)
  const { publicJwk } = askerKey()
  const key = await readPublicKey({ ...publicJwk }, { sender_id: ASKER_SENDER, kid: KID, use: 'sig' })
  await addParticipantKey(db, asker, key)
}

/** Seconds that a signature lives: as long as it may, for what a round leaves over is sent in a later one. */
const LIFETIME = 3_600

/** Signs searches of the asker, each a message of its own, dated now. */
export async function questionSigner(): Promise<(identifier: string) => Promise<string>> {
  const signed = await envelopeSigner()
  return (identifier) => signed(question(identifier))
}

/** Signs envelopes of the asker that have no signature yet. */
export async function envelopeSigner(): Promise<(unsigned: string) => Promise<string>> {
  const jwk = askerKey().privateKey.export({ format: 'jwk' })
  const privateKey = await importSigningKey({ ...jwk, kty: 'OKP' }, 'EdDSA')
  const key = { sender_id: ASKER_SENDER, kid: KID, algorithm: 'EdDSA', privateKey } as const
  return async (unsigned) => {
    const envelope = parseJson(unsigned)
    if (!isJsonObject(envelope) || !isJsonObject(envelope.header)) throw new Error('a question is no envelope')
    const created = Math.floor(Date.now() / 1_000)
    const signature = await sign({
      header: envelope.header,
      message: envelope.message,
      profile: DEFAULT_SIGNATURE_PROFILE,
      key,
      namespace: 'registry',
      created,
      expires: created + LIFETIME,
    })
    return `{"signature":${JSON.stringify(signature)},${unsigned.slice(1)}`
  }
}
