/** A search of a civil registry, signed by hand as a participant's own system would. */
import { createHash, createPrivateKey, type JsonWebKey, randomUUID, sign } from 'node:crypto'
import { canonicalJson } from '@rollcall/protocol'
import type { DemoFile } from '../src/demo/demo-file.ts'
import { askToken } from './ask.ts'

type Asker = Pick<DemoFile['participant'], 'sender_id' | 'client_id' | 'client_secret' | 'sign'>

/** The search, and what sends it. */
export async function signedSearch(
  { base_url, token_url }: Pick<DemoFile, 'base_url' | 'token_url'>,
  { sender_id, sign: key, ...client }: Asker,
  criteria: object,
) {
  const timestamp = new Date().toISOString()
  const header = { message_id: randomUUID(), message_ts: timestamp, action: 'search', sender_id, total_count: 1 }
  const search_criteria = { query_type: 'idtype-value', ...criteria }
  const message = { transaction_id: 't', search_request: [{ reference_id: 'r', timestamp, search_criteria }] }
  const created = Math.floor(Date.now() / 1_000)
  const times = { created: String(created), expires: String(created + 60) }
  const digest = sha256(canonicalJson({ header, message }))
  const privateKey = createPrivateKey({ key: key.private_jwk as JsonWebKey, format: 'jwk' })
  const signed = sign(null, Buffer.from(signedText(times, digest)), privateKey).toString('base64')
  const signature = `namespace="reg", kidId="${sender_id}|${key.kid}|${key.algorithm}", algorithm="ed25519", created="${times.created}", expires="${times.expires}", headers="(created) (expires) digest", signature="${signed}"`
  const { token } = await askToken(token_url, client)
  const send = (body: object, namespace = 'civil') =>
    fetch(`${base_url}/${namespace}/v1.0.0/registry/sync/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { signature, header, message, send }
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64')

export const signedText = (
  { created, expires }: { readonly created: string; readonly expires: string },
  digest: string,
): string => `(created): ${created}\n(expires): ${expires}\ndigest: ${digest}`
