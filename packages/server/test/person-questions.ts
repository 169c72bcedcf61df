/** Questions about one person. */
import { randomUUID } from 'node:crypto'
import { type Kind, operation } from '@rollcall/protocol'
import type { Answer, TestParticipant, TestServer } from './server.ts'
import { bearer, post } from './server.ts'

/** The envelope of a question, which tests change. */
export const askingOf = (by: TestParticipant, action: string, message: object, header: object = {}) => ({
  header: {
    version: '1.0.0',
    message_id: `m-${randomUUID()}`,
    message_ts: new Date().toISOString(),
    action,
    sender_id: by.sender_id,
    total_count: 1,
    is_msg_encrypted: false,
    meta: {},
    ...header,
  },
  message: { transaction_id: 'tx-14', ...message },
})

/** The operation of a question; its path and action where they are not the canonical ones. */
export interface Asking {
  readonly operation: string
  readonly namespace: Kind['name']
  readonly path?: string
  readonly action?: string
}

/** Asks about one person, at the canonical path unless another is given. @param criteria those of the question */
export function ask(
  server: TestServer,
  by: TestParticipant,
  { operation: name, namespace, path, action }: Asking,
  criteria: unknown,
): Promise<Answer> {
  const row = operation(name)
  const member = row.request.name === 'DisabledRequest' ? 'disabled_criteria' : 'enrolled_criteria'
  const url = `${server.url}/${namespace}/v1.0.0/${path ?? row.sync_paths[0]}`
  return post(url, askingOf(by, action ?? row.action, { [member]: criteria }), bearer(by))
}
