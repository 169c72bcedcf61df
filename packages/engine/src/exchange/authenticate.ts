/** Authenticates a request by its bearer token. */

import type { Participant } from '@rollcall/core/model/participant'
import type { Directory } from '@rollcall/participants/directory/directory'
import type { TokenOwner, Tokens } from '@rollcall/participants/directory/tokens'
import type { IncomingRequest } from '@rollcall/participants/reading/body'
import { RequestFault } from '@rollcall/protocol'

export interface Authenticating {
  readonly tokens: Pick<Tokens, 'verify'>
  readonly directory: Pick<Directory, 'activeParticipant'>
}

/**
 * Finds the active participant whose access token is in the Authorization header (spec "Authentication" 1, N12).
 * @throws RequestFault 401 err.request.unauthorized; the text says what to do, not why a token failed
 */
export async function authenticate(
  { tokens, directory }: Authenticating,
  { headers: { authorization }, identified }: Pick<IncomingRequest, 'headers' | 'identified'>,
): Promise<Participant> {
  const token = bearerToken(authorization)
  const verified = await tokens.verify(token)
  const participant = verified === null ? null : await directory.activeParticipant(verified.sender_id)
  if (participant === null || verified === null || !isStillOf(verified, participant)) {
    throw unauthorized('Authorization: the access token is not valid here or has expired; ask for a new one')
  }
  identified?.(participant.sender_id)
  return participant
}

/**
 * Whether a token still belongs to the participant. A token ends when its participant is removed or promoted, even if
 * another one with the same sender_id is added later.
 */
const isStillOf = (token: TokenOwner, { client_id, environment }: Participant): boolean =>
  token.client_id === client_id && token.environment === environment

/** Reads the token of an Authorization header. @throws RequestFault 401 err.request.unauthorized */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) throw unauthorized('Authorization: a bearer token is required')
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1]
  if (token === undefined) throw unauthorized('Authorization: must be "Bearer" and an access token')
  return token
}

export const unauthorized = (message: string): RequestFault => new RequestFault('err.request.unauthorized', message)
