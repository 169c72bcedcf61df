/** Access tokens of participants' token endpoints (RFC 6749, 4.4), remembered while they are good. */
import { createHash } from 'node:crypto'
import { isJsonObject, JsonError, type JsonObject, parseJson } from '@rollcall/protocol'
import type { AddressGuard } from '../egress/address-guard.ts'
import { AddressRefused, CredentialsUnusable, RequestFailed } from '../egress/problems.ts'

/** Who we are at a token endpoint. */
export interface TokenClient {
  readonly token_url: string
  readonly client_id: string
  readonly client_secret: string
  readonly scope: string | null
}

export interface AccessTokens {
  /**
   * A token that is good for a while; of many who ask at a time one fetches.
   * @throws CredentialsUnusable
   */
  get(name: string, client: TokenClient, guard: AddressGuard, timeoutMs: number): Promise<string>
  /** Forgets a token that was refused. */
  drop(name: string, token: string): void
}

interface Held {
  /** Of which client: another secret is another one. */
  readonly client: string
  readonly token: Promise<string>
  /** Milliseconds of `now`; Infinity while it is fetched. */
  until: number
  value: string | null
}

/** Bytes of an answer. */
const MOST = 65_536
/** Seconds that a token is good for whose answer does not say. */
const UNSAID = 60
/** No token is used in the last part of its life. */
const USED = 0.9
/** What can stand in a header: RFC 6750, 2.1. */
const TOKEN = /^[\w.~+/-]{1,8192}=*$/

/** @param now milliseconds */
export function createAccessTokens(now: () => number): AccessTokens {
  const held = new Map<string, Held>()
  return {
    get(name, client, guard, timeoutMs) {
      const fingerprint = createHash('sha256').update(JSON.stringify(client)).digest('hex')
      const known = held.get(name)
      if (known?.client === fingerprint && known.until > now()) return known.token
      const fetched = fetchToken(client, guard, timeoutMs)
      const entry: Held = {
        client: fingerprint,
        token: fetched.then(({ token }) => token),
        until: Number.POSITIVE_INFINITY,
        value: null,
      }
      held.set(name, entry)
      fetched.then(
        ({ token, seconds }) => {
          entry.value = token
          entry.until = now() + seconds * USED * 1_000
        },
        () => {
          if (held.get(name) === entry) held.delete(name)
        },
      )
      return entry.token
    },
    drop(name, token) {
      if (held.get(name)?.value === token) held.delete(name)
    },
  }
}

async function fetchToken(
  { token_url, client_id, client_secret, scope }: TokenClient,
  guard: AddressGuard,
  timeoutMs: number,
): Promise<{ token: string; seconds: number }> {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== null && { scope }) })
  const login = [client_id, client_secret].map(encoded).join(':')
  try {
    const { status, body } = await guard.request(token_url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        authorization: `Basic ${Buffer.from(login).toString('base64')}`,
      },
      body: form.toString(),
      timeoutMs,
      maxBytes: MOST,
    })
    if (status !== 200) throw new CredentialsUnusable('token', `status ${status}`)
    return readToken(readObject(body))
  } catch (error) {
    if (error instanceof AddressRefused) throw new CredentialsUnusable('token', error.rule)
    if (error instanceof RequestFailed) throw new CredentialsUnusable('token', error.failure)
    throw error
  }
}

/** As a form has it (RFC 6749, 2.3.1). */
const encoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

function readToken({ access_token, token_type, expires_in }: JsonObject): { token: string; seconds: number } {
  const isBearer = typeof token_type !== 'string' || token_type.toLowerCase() === 'bearer'
  if (typeof access_token !== 'string' || !TOKEN.test(access_token) || !isBearer) {
    throw new CredentialsUnusable('token', 'answer')
  }
  const seconds = Number(expires_in)
  return { token: access_token, seconds: seconds > 0 ? Math.min(seconds, 86_400) : UNSAID }
}

function readObject(body: Uint8Array): JsonObject {
  try {
    const answer = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body))
    if (isJsonObject(answer)) return answer
  } catch (error) {
    if (!(error instanceof JsonError || error instanceof TypeError)) throw error
  }
  throw new CredentialsUnusable('token', 'answer')
}
