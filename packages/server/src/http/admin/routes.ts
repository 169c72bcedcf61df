/** THE table of the admin API: a row for each call. The routes and the OpenAPI document are made of it. */
import type { Deprecation } from '@rollcall/protocol'
import type { Static, TSchema } from 'typebox'
import { makeEvidence } from '../../admin/audit-evidence.ts'
import { listAccounts, listEmergencies, reviewEmergency } from '../../admin/audit-list.ts'
import { auditPerson } from '../../admin/audit-person.ts'
import { revokeConsents, withdrawConsent } from '../../admin/consents.ts'
import { listDeliveries, showDelivery } from '../../admin/deliveries.ts'
import { listEvents } from '../../admin/event-list.ts'
import { publishEvent } from '../../admin/events.ts'
import { addHold, listHolds, removeHold } from '../../admin/holds.ts'
import type { HasAccounts, HasRecording, HasVault } from '../../admin/needs.ts'
import { showParticipant } from '../../admin/participant-check.ts'
import { promoteParticipant } from '../../admin/participant-promote.ts'
import { listParticipants } from '../../admin/participants.ts'
import { listProtected, protectPerson, unprotectPerson } from '../../admin/protected-persons.ts'
import { showRecord } from '../../admin/record.ts'
import { mergeRecords, unmergeRecords } from '../../admin/record-merge.ts'
import { listRegistries } from '../../admin/registries.ts'
import { countPrunable, type RetentionNeeds, showRetention } from '../../admin/retention.ts'
import { listSubscriptions, showSubscription } from '../../admin/subscriptions.ts'
import type { Given, UseCase } from '../../admin/use-case.ts'
import type { Limits } from '../../limits.ts'
import type { OperatorRole } from '../../model/operator.ts'
import type { Method } from '../server.ts'

/** Before every path. */
export const ADMIN_BASE = '/admin/v1'

/** What the use cases work with. */
export type AdminNeeds = HasVault &
  HasRecording &
  HasAccounts &
  RetentionNeeds & { readonly limits: Pick<Limits, 'check_days'> }

export interface AdminRoute {
  readonly method: Method
  /** Below ADMIN_BASE. `{name}` is a member of the input; `{namespace}` is checked here, too. */
  readonly path: string
  /** Of the call, in logs, metrics and the OpenAPI document. */
  readonly name: string
  readonly summary: string
  /** Who may call it has this role. */
  readonly role: OperatorRole
  readonly input: TSchema
  readonly result: TSchema
  /** Members of the input that are not offered here, such as those that show personal data. */
  readonly hidden: readonly string[]
  /** Of an answer. */
  readonly status: 200 | 201
  /** When it is to be removed. */
  readonly deprecated: Deprecation | undefined
  /** @throws AdminRefusal */
  readonly call: (needs: AdminNeeds, input: unknown) => Promise<unknown>
}

type Row = Pick<AdminRoute, 'method' | 'path' | 'name' | 'summary' | 'role'> &
  Partial<Pick<AdminRoute, 'hidden' | 'status' | 'deprecated'>>

function route<Input extends TSchema, Result extends TSchema>(
  useCase: UseCase<AdminNeeds, Input, Result>,
  row: Row,
): AdminRoute {
  const { input, result } = useCase
  // The use case checks what it is given.
  const call = (needs: AdminNeeds, given: unknown) => useCase(needs, given as Given<Static<Input>>)
  return { hidden: [], status: 200, deprecated: undefined, ...row, input, result, call }
}

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  route(listRegistries, {
    ...{ method: 'GET', path: '/registries', name: 'listRegistries', role: 'read' },
    summary: 'Every registry, by namespace, with the number of its records.',
  }),
  route(publishEvent, {
    ...{ method: 'POST', path: '/registries/{namespace}/events', name: 'publishEvent', role: 'publish' },
    summary:
      'Publishes an event: writes the record, and notifies who has subscribed. Answered after the commit.',
  }),
  route(listEvents, {
    ...{ method: 'GET', path: '/registries/{namespace}/events', name: 'listEvents', role: 'read' },
    summary: 'The events of a registry, the newest first: what happened when, and never to whom.',
  }),
  route(mergeRecords, {
    ...{ method: 'POST', path: '/registries/{namespace}/records/merge', name: 'mergeRecords' },
    role: 'operate',
    summary: 'Merges a record into another one of the same person, and notifies who was notified of it.',
  }),
  route(unmergeRecords, {
    ...{ method: 'POST', path: '/registries/{namespace}/records/unmerge', name: 'unmergeRecords' },
    role: 'operate',
    summary: 'Takes a merge back, and notifies who was notified of it.',
  }),
  // In a body: the identifier of a person is no part of an address, which logs would have.
  route(showRecord, {
    ...{ method: 'POST', path: '/registries/{namespace}/records/get', name: 'showRecord', role: 'audit' },
    summary: 'The records that an identifier names, whole. The look is accounted before it is answered.',
  }),
  route(protectPerson, {
    ...{ method: 'POST', path: '/registries/{namespace}/protected-persons', name: 'protectPerson' },
    ...{ role: 'operate', status: 201 },
    summary: 'Protects a person from every grant that does not name the category.',
  }),
  route(listProtected, {
    ...{ method: 'GET', path: '/registries/{namespace}/protected-persons', name: 'listProtected' },
    role: 'audit',
    summary: 'The protected persons of a registry; with `identifiers=true` who they are, and why.',
  }),
  route(unprotectPerson, {
    ...{ method: 'POST', path: '/registries/{namespace}/protected-persons/lift', name: 'unprotectPerson' },
    role: 'own',
    summary: 'Lifts the protection of a person.',
  }),
  route(listParticipants, {
    ...{ method: 'GET', path: '/participants', name: 'listParticipants', role: 'read' },
    summary: 'Every participant, by sender_id.',
  }),
  route(showParticipant, {
    ...{ method: 'GET', path: '/participants/{sender_id}', name: 'showParticipant', role: 'read' },
    summary: 'One participant, with the reports of its checks.',
  }),
  route(promoteParticipant, {
    ...{ method: 'POST', path: '/participants/{sender_id}/promote', name: 'promoteParticipant', role: 'own' },
    summary:
      'Makes a sandbox participant live after its check: new keys and a new secret; all of the sandbox ends.',
  }),
  route(listSubscriptions, {
    ...{ method: 'GET', path: '/subscriptions', name: 'listSubscriptions', role: 'read' },
    summary: 'Subscriptions of participants, the newest first: to which events, and never about whom.',
  }),
  route(showSubscription, {
    ...{ method: 'GET', path: '/subscriptions/{code}', name: 'showSubscription', role: 'read' },
    ...{ hidden: ['criteria'], summary: 'One subscription, without its filter.' },
  }),
  route(listDeliveries, {
    ...{ method: 'GET', path: '/deliveries', name: 'listDeliveries', role: 'read' },
    summary: 'What is sent to participants, the newest first.',
  }),
  route(showDelivery, {
    ...{ method: 'GET', path: '/deliveries/{id}', name: 'showDelivery', role: 'read', hidden: ['body'] },
    summary: 'One delivery with every attempt, without its message.',
  }),
  route(listAccounts, {
    ...{ method: 'GET', path: '/accounts', name: 'listAccounts', role: 'read' },
    summary: 'The newest accounts of access. They name no person.',
  }),
  route(auditPerson, {
    ...{ method: 'POST', path: '/accounts/person', name: 'auditPerson', role: 'audit' },
    summary: 'Who has seen, written, or asked about the data of a person, in all registries.',
  }),
  route(makeEvidence, {
    ...{ method: 'GET', path: '/messages/{message_id}/evidence', name: 'makeEvidence', role: 'audit' },
    summary: 'What was accounted of a message, for whoever verifies it without the database.',
  }),
  route(listEmergencies, {
    ...{ method: 'GET', path: '/emergencies', name: 'listEmergencies', role: 'audit' },
    summary: 'Emergencies that nobody has reviewed, the oldest first, with their reasons.',
  }),
  route(reviewEmergency, {
    ...{
      method: 'POST',
      path: '/emergencies/{id}/reviews',
      name: 'reviewEmergency',
      role: 'audit',
      status: 201,
    },
    summary: 'Says that an emergency was reviewed, and what was found.',
  }),
  route(listHolds, {
    ...{ method: 'GET', path: '/holds', name: 'listHolds', role: 'read' },
    summary: 'The holds in force, the oldest first. Of a person they do not say who it is.',
  }),
  route(addHold, {
    ...{ method: 'POST', path: '/holds', name: 'addHold', role: 'operate', status: 201 },
    summary: 'Stops prune and erase for a person, a participant or a period.',
  }),
  route(removeHold, {
    ...{ method: 'POST', path: '/holds/{id}/remove', name: 'removeHold', role: 'own' },
    summary: 'Ends a hold: what it covered is deleted by the next prune.',
  }),
  route(showRetention, {
    ...{ method: 'GET', path: '/retention/ages', name: 'showRetention', role: 'read' },
    summary: 'What is stored for how long.',
  }),
  route(countPrunable, {
    ...{ method: 'GET', path: '/retention/prunable', name: 'countPrunable', role: 'operate' },
    summary:
      'What prune would delete now. It deletes nothing, and verifies the accounts, which may take long.',
  }),
  route(withdrawConsent, {
    ...{ method: 'POST', path: '/consents/withdraw', name: 'withdrawConsent', role: 'consent' },
    summary:
      'Withdraws a signed consent by authority and jti, or what a person has consented to for a purpose. What is begun is stopped.',
  }),
  route(revokeConsents, {
    ...{ method: 'POST', path: '/consents/revoke', name: 'revokeConsents', role: 'consent' },
    summary: 'Withdraws the signed consents of a revocation list of their authority.',
  }),
]

/** The members of a call's input that stand in its path. */
export const pathMembers = ({ path }: Pick<AdminRoute, 'path'>): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** The members of a call's input that stand elsewhere, with their schemas. */
export function otherMembers(route: Pick<AdminRoute, 'path' | 'input' | 'hidden'>): Record<string, TSchema> {
  const elsewhere = [...pathMembers(route), ...route.hidden]
  const { properties = {} } = route.input as { properties?: Record<string, TSchema> }
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !elsewhere.includes(name)))
}
