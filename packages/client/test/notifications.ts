/** Notifications of a civil registry, signed. */
import { randomUUID } from 'node:crypto'
import type { NotifyMeta } from '@rollcall/protocol'
import { notify, signed } from './callbacks.ts'

export interface Item {
  readonly uin: string
  readonly version: number
  /** Default: UPDATE. */
  readonly type?: string
  /** Default: one of its own. */
  readonly reference_id?: string
  /** Default: SUB-1 alone. */
  readonly codes?: readonly string[]
  /** Default: a civil registry's. */
  readonly reg_type?: string
  /** Default: Person. */
  readonly record_type?: string
}

const uinOf = (uin: string) => [{ identifier_type: 'UIN', identifier_value: uin }]

/** A notification of people, each with a version of its record. */
export function notification(
  items: readonly Item[],
  { sequence = 1, ...more }: Partial<Pick<NotifyMeta, 'sequence' | 'test' | 'backfill' | 'mailbox' | 'corrects'>> = {},
) {
  const timestamp = new Date().toISOString()
  const ids = items.map((item): [string, Item] => [item.reference_id ?? randomUUID(), item])
  const of = (value: (item: Item) => unknown) => Object.fromEntries(ids.map(([id, item]) => [id, value(item)]))
  const notify_event = ids.map(([reference_id, { uin, type = 'UPDATE', reg_type = 'Civil', record_type = 'Person' }]) => ({
    reference_id,
    timestamp,
    data: {
      reg_type: `ns:org:RegistryType:${reg_type}`,
      reg_event_type: type,
      reg_record_type: record_type,
      reg_records: { [record_type === 'Member' ? 'member_identifier' : 'identifier']: uinOf(uin) },
    },
  }))
  const meta = {
    subscriptions: of(({ codes = ['SUB-1'] }) => codes),
    presence: of(({ codes = ['SUB-1'] }) => Object.fromEntries(codes.map((code) => [code, 'stayed']))),
    record_version: of(({ version }) => version),
    occurred_at: of(() => timestamp),
    recorded_at: of(() => timestamp),
    sequence,
    ...more,
  }
  return signed(notify({ header: { meta }, message: { notify_event } }))
}

export const path = '/callbacks/registry/notify'
