/** A registry of two persons and its mailboxes, in memory. The server's own code plans and composes the envelopes. */

import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { readGrant } from '@rollcall/core/policy/grant'
import { canonicalJson, type JsonObject, KINDS, type Kind, parseJson } from '@rollcall/protocol'
import { composeEnvelope } from '../../delivery/src/notify/compose.ts'
import { groupIntoEnvelopes } from '../../delivery/src/notify/group-items.ts'
import type { WaitingNotification } from '../../delivery/src/store/events/waiting.ts'
import { waiting } from '../../server/test/notifications.ts'

export interface Interest {
  readonly event_type: 'UPDATE' | 'REGISTER'
  /** Values of a record that fulfil the filter. */
  readonly filter: readonly number[]
  readonly held: boolean
  readonly mailbox: 0 | 1
  readonly asked_reg_type: string | null
  readonly asked_record_type: string | null
}

interface Subscription extends Interest {
  readonly id: number
  readonly code: string
  mailbox: 0 | 1
  isLive: boolean
}

export interface Row extends WaitingNotification {
  mailbox: number
  due: number
  state: 'waiting' | 'sent' | 'dead'
  reference_id: string
  /** It was refused at least once. */
  wasDead: boolean
}

interface Event {
  readonly id: number
  readonly event_type: string
  readonly record: number
  readonly record_version: number
  readonly value: number
}

export interface Envelope {
  readonly header: JsonObject
  readonly message: { readonly notify_event: readonly { readonly reference_id: string }[] }
  readonly rows: readonly Row[]
}

/** Runs of the frequency are at whole multiples of it. */
const FREQUENCY = 1_000
const [civil] = KINDS as readonly [Kind]
const GRANT = readGrant(civil, { id: 1, terms: { operations: 'all', see: 'all', basis: 'law' } })

export class MailboxModel {
  readonly rows: Row[] = []
  readonly subscriptions: Subscription[] = []
  readonly #events: Event[] = []
  readonly #values = [0, 0]
  readonly #sequences = [0, 0]
  readonly #items: number
  #now = 1

  /** @param items in one envelope, at most */
  constructor(items: number) {
    this.#items = items
  }

  subscribe(interest: Interest): void {
    const id = this.subscriptions.length + 1
    this.subscriptions.push({ ...interest, id, code: `SUB-${id}`, isLive: true })
  }

  /** Ends a subscription, and makes it again: it has another code. */
  subscribeAgain(one: Subscription): void {
    one.isLive = false
    for (const row of this.rows.filter(({ subscription }) => subscription === one.id)) {
      if (row.state === 'waiting') this.rows.splice(this.rows.indexOf(row), 1)
    }
    this.subscribe(one)
  }

  /** Renews a subscription from another address: what waits for it is moved. */
  move(one: Subscription): void {
    one.mailbox = one.mailbox === 0 ? 1 : 0
    for (const row of this.rows) {
      if (row.subscription === one.id && row.state === 'waiting') row.mailbox = one.mailbox
    }
  }

  change(record: number, event_type: string, value: number): void {
    const before = this.#values[record] ?? 0
    this.#values[record] = value
    const event = this.#event(event_type, record)
    for (const one of this.subscriptions.filter((one) => one.isLive && one.event_type === event_type)) {
      const [was, is] = [before, value].map((state) => one.filter.includes(state))
      if (was || is) this.#notify(one, event, { presence: is ? (was ? 'stayed' : 'entered') : 'left' })
    }
  }

  /** Takes an event back, or corrects it: who was notified of it last is told. */
  correct(event_type: 'CANCEL' | 'CORRECTION', corrected: Event): void {
    const event = this.#event(event_type, corrected.record)
    for (const one of this.subscriptions.filter(({ isLive }) => isLive)) {
      const row = this.rows.findLast((row) => row.subscription === one.id && row.event === corrected.id)
      if (row === undefined) continue
      const waits = row.state === 'waiting'
      const isBehind = waits && row.purpose === 'backfill'
      const changes = { corrected_reference_id: row.reference_id, corrected_notification: row.id }
      if (isBehind) this.#notify({ ...one, held: false }, event, { ...changes, purpose: 'backfill' })
      else this.#notify(one, event, { ...changes, purpose: 'correction' }, waits ? row.due : 0)
    }
  }

  backfill(one: Subscription): void {
    for (const [record, value] of this.#values.entries()) {
      if (!one.filter.includes(value)) continue
      const record_version = this.#lastVersion(record)
      const event = { id: this.#newId(), event_type: one.event_type, record, record_version, value }
      this.#events.push(event)
      this.#notify({ ...one, held: false }, event, { presence: 'stayed', purpose: 'backfill' })
    }
  }

  /** Events of changes, which may be corrected. */
  get changes(): readonly Event[] {
    return this.#events.filter(({ event_type }) => event_type !== 'CANCEL' && event_type !== 'CORRECTION')
  }

  /** Goes on to the next run of the frequency. */
  tick(): void {
    this.#now = nextRun(this.#now)
  }

  /** Composes the next envelope of a mailbox; undefined: nothing is due. */
  next(mailbox: 0 | 1): Envelope | undefined {
    const due = this.rows
      .filter((row) => row.mailbox === mailbox && row.state === 'waiting' && row.due <= this.#now)
      .sort((one, other) => isBackfill(one) - isBackfill(other) || one.due - other.due || one.id - other.id)
    const [planned] = groupIntoEnvelopes(due, { notify_items: this.#items, notify_bytes: 1_000_000 })
    if (planned === undefined) return undefined
    const sequence = (this.#sequences[mailbox] ?? 0) + 1
    this.#sequences[mailbox] = sequence
    const items = planned.map((item) => ({ ...item, shown: this.#shown(item.event) }))
    const { header, message, notifications } = composeEnvelope(
      {
        participant: { sender_id: 'sp.example' } as Participant,
        registry: { sender_id: 'civil.example', kind: civil } as Registry,
        grant: GRANT,
        settings: { notify_unlisted: false },
        mailbox: `mailbox-${mailbox}`,
        sequence,
      },
      items,
    )
    const rows = notifications.flatMap(({ id, reference_id }) => {
      const row = this.rows.find((row) => row.id === id)
      if (row !== undefined) Object.assign(row, { state: 'sent', reference_id })
      return row ?? []
    })
    const sent = parseJson(canonicalJson({ header: { ...header, is_msg_encrypted: false }, message }))
    return { ...(sent as unknown as Pick<Envelope, 'header' | 'message'>), rows }
  }

  #event(event_type: string, record: number): Event {
    this.#now += 1
    const record_version = Math.max(this.#now, this.#lastVersion(record) + 1)
    const event = { id: this.#newId(), event_type, record, record_version, value: this.#values[record] ?? 0 }
    this.#events.push(event)
    return event
  }

  #newId(): number {
    return this.#events.length + 1
  }

  /** 0: nothing has happened to it. */
  #lastVersion(record: number): number {
    const own = this.#events.filter((event) => event.record === record)
    return Math.max(0, ...own.map(({ record_version }) => record_version))
  }

  #notify(one: Subscription, event: Event, changes: Partial<WaitingNotification>, notBefore = 0): void {
    const { id: subscription, code, mailbox, asked_reg_type, asked_record_type } = one
    const id = this.rows.length === 0 ? 1 : Math.max(...this.rows.map((row) => row.id)) + 1
    const due = one.held ? nextRun(this.#now) : this.#now
    const { event_type, record, record_version } = event
    const said = { subscription, code, subscribed: one.event_type, asked_reg_type, asked_record_type }
    this.rows.push({
      ...waiting({ id, event: event.id, event_type, record: String(record), record_version, ...said, ...changes }),
      mailbox,
      due: Math.max(due, notBefore),
      state: 'waiting',
      wasDead: false,
      reference_id: `${mailbox}-${event.id}`,
    })
  }

  #shown(id: number) {
    const event = this.#events.find((event) => event.id === id)
    const identifier = [{ identifier_type: 'UIN', identifier_value: `U-${event?.record}` }]
    return {
      document: canonicalJson({ identifier, name: { surname: `${event?.value}` } }),
      identifiers: canonicalJson({ identifier }),
    }
  }
}

const nextRun = (now: number): number => (Math.floor(now / FREQUENCY) + 1) * FREQUENCY

const isBackfill = ({ purpose }: Row): number => (purpose === 'backfill' ? 1 : 0)
