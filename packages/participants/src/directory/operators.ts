/** Tokens of the admin API: `rollcall_<id>_<secret>`, shown once. */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import type { Operator } from '@rollcall/core/model/operator'
import type { Database } from '@rollcall/database/database'
import { findOperatorToken } from '../store/operator-tokens.ts'
import { isSecretOf } from './secrets.ts'

export interface OperatorTokenChecker {
  /** The operator who owns a token; null when the token is unknown, expired or revoked. */
  operatorOf(token: string): Promise<Operator | null>
}

/** The text of a new token. Its prefix lets scanners for leaked secrets recognise it. */
export const formatOperatorToken = (id: number, secret: string): string => `rollcall_${id}_${secret}`

const OPERATOR_TOKEN_PATTERN = /^rollcall_([1-9]\d{0,8})_([\w-]{43})$/

/**
 * Creates the check of tokens. It reads the database at each call, so a revoked token is refused at once.
 * @param clock the time by which tokens expire
 */
export function createOperatorTokenChecker(
  db: Pick<Database, 'pool'>,
  { date }: Pick<Clock, 'date'> = SYSTEM_CLOCK,
): OperatorTokenChecker {
  return {
    async operatorOf(token) {
      const [, id, secret] = OPERATOR_TOKEN_PATTERN.exec(token) ?? []
      if (id === undefined || secret === undefined) return null
      const found = await findOperatorToken(db, Number(id))
      if (!isSecretOf(found === null ? [] : [found.sha256], secret) || found === null) return null
      const { sha256: _, expires_at, ...operator } = found
      return expires_at.getTime() > date() ? operator : null
    },
  }
}
