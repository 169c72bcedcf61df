/** Calls about registries and their records. */
import { listEvents } from '../../admin/event-list.ts'
import { publishEvent } from '../../admin/events.ts'
import { listProtected, protectPerson, unprotectPerson } from '../../admin/protected-persons.ts'
import { showRecord } from '../../admin/record.ts'
import { mergeRecords, unmergeRecords } from '../../admin/record-merge.ts'
import { listRegistries } from '../../admin/registries.ts'
import { type AdminRoute, route } from './route.ts'

export const REGISTRY_ROUTES: readonly AdminRoute[] = [
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
]
