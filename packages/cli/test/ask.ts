/** Talking to a running server, as a participant does. */
import { randomUUID } from 'node:crypto'
import type { DemoFile, DemoRegistry } from '../src/demo/demo-file.ts'

/** The status and the body of a token request. */
export async function askToken(
  token_url: string,
  { client_id, client_secret }: { client_id: string; client_secret: string },
): Promise<{ status: number; token: string }> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const answer = await fetch(token_url, { method: 'POST', body })
  const { access_token = '' } = (await answer.json()) as { access_token?: string }
  return { status: answer.status, token: access_token }
}

/** Sends one batch that searches for each of the identifiers. Returns the items of the answer. */
export async function search(
  base_url: string,
  token: string,
  sender_id: string,
  registry: Pick<DemoRegistry, 'namespace' | 'receiver_id' | 'reg_type' | 'reg_record_type' | 'samples'>,
): Promise<{ status: number; items: readonly SearchItem[] }> {
  const now = new Date().toISOString()
  const { namespace, receiver_id, reg_type, reg_record_type, samples } = registry
  const header = { version: '1.0.0', message_id: randomUUID(), message_ts: now, action: 'search', sender_id, receiver_id }
  const search_request = samples.map(({ identifier_type: type, identifier_value: value }, at) => ({
    reference_id: String(at),
    timestamp: now,
    search_criteria: { reg_type, reg_record_type, query_type: 'idtype-value', query: { type, value } },
  }))
  const message = { transaction_id: `t-${now}`, search_request }
  const answer = await fetch(`${base_url}/${namespace}/v1.0.0/registry/sync/search`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ header: { ...header, total_count: samples.length }, message }),
  })
  const body = (await answer.json()) as { message?: { search_response?: SearchItem[] } }
  return { status: answer.status, items: body.message?.search_response ?? [] }
}

export interface SearchItem {
  readonly status: string
  readonly data?: { readonly reg_records: readonly object[] }
  readonly pagination?: { readonly total_count: number }
}

/** A token for the participant of demo.json. */
export async function demoToken(demo: DemoFile): Promise<string> {
  return (await askToken(demo.token_url, demo.participant)).token
}
