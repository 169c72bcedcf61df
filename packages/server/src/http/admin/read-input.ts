/** Reads the input of an admin function from a request: members in the path, and in the query or the body. */

import type { Limits } from '@rollcall/core/limits'
import { bodyTooLargeFault, checkContentType, readBodyText } from '@rollcall/participants/reading/body'
import { itemBounds } from '@rollcall/participants/reading/envelope'
import { ACCEPTED_TYPES, isJsonObject, JsonError, type JsonObject, parseJson, RequestFault } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { type AdminRoute, queryOrBodyMembers } from './route.ts'

export type InputLimits = Pick<Limits, 'admin_body_bytes' | 'body_depth'>

type QueryMembers = Readonly<Record<string, string | readonly string[]>>

/** Reads the input. The admin function checks the values by its schema. @throws RequestFault 400, 413, 415 */
export async function readInput(
  route: Pick<AdminRoute, 'method' | 'path' | 'input' | 'hidden'>,
  request: Pick<FastifyRequest, 'params' | 'query' | 'headers' | 'raw'>,
  limits: InputLimits,
): Promise<JsonObject> {
  const members = queryOrBodyMembers(route)
  const query = Object.entries(request.query as QueryMembers)
  const given =
    route.method === 'GET'
      ? Object.fromEntries(query.map(([name, text]) => [name, readQueryMember(name, text, members[name])]))
      : await readJsonBody(query, request, limits)
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(members, name))
  if (unknown !== undefined) throw badRequest(`${printableName(unknown)}: is not a known member`)
  const { properties = {} } = route.input as { properties?: Record<string, { type?: string }> }
  const inPath = Object.entries(request.params as Record<string, string>).map(
    ([name, text]): [string, string | number | boolean] => [name, scalarOf(name, text, properties[name]?.type)],
  )
  return { ...given, ...Object.fromEntries(inPath) }
}

const badRequest = (message: string): RequestFault => new RequestFault('err.request.bad', message)

/** A member's name for an error text. The name is shown only if it is short and plain: a caller may write anything. */
const printableName = (name: string): string => (/^[\w.-]{1,64}$/.test(name) ? name : 'a member')

/**
 * A value of the query, converted as the schema of its member says. A text that cannot be converted stays a text, and
 * the schema refuses it.
 */
function readQueryMember(name: string, given: string | readonly string[], schema: TSchema | undefined) {
  const { type, items } = (schema ?? {}) as { type?: string; items?: TSchema }
  const texts = typeof given === 'string' ? [given] : given
  if (type === 'array') return texts.map((text) => scalarOf(name, text, (items as { type?: string })?.type))
  const [text = '', ...more] = texts
  if (more.length > 0) throw badRequest(`${printableName(name)}: must be given once`)
  return scalarOf(name, text, type)
}

/** Converts a text of the path or the query. @throws RequestFault it has a NUL, which no JSON body can have either */
function scalarOf(name: string, text: string, type: string | undefined): string | number | boolean {
  if (text.includes('\0')) throw badRequest(`${printableName(name)}: the text has a NUL character`)
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true'
  if ((type === 'integer' || type === 'number') && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return Number(text)
  return text
}

/** The most JSON values in a body: more than the longest array of an input, which has 10,000 items (`consent revoke`). */
const MOST_INPUT_JSON_VALUES = 20_000

async function readJsonBody(
  query: readonly unknown[],
  { headers, raw }: Pick<FastifyRequest, 'headers' | 'raw'>,
  limits: InputLimits,
): Promise<JsonObject> {
  if (query.length > 0) throw badRequest('query: this call takes its input in the body')
  checkContentType(headers, ACCEPTED_TYPES.call)
  const most = limits.admin_body_bytes
  if (Number(headers['content-length'] ?? 0) > most) throw bodyTooLargeFault(most)
  const text = await readBodyText(raw, most)
  try {
    const body = parseJson(text, { ...itemBounds(limits), maxValues: MOST_INPUT_JSON_VALUES })
    if (isJsonObject(body)) return body
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(error.path === '' ? `body: ${error.message}` : error.message)
    throw error
  }
  throw badRequest('body: must be a JSON object')
}
