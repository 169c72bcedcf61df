/** The calls of the admin API about registries and their records. */

import { listEvents } from '@rollcall/admin/events/list'
import { publishEvent } from '@rollcall/admin/events/publish'
import { listProtectedPersons, protectPerson, unprotectPerson } from '@rollcall/admin/persons/protected-persons'
import { mergeRecords, unmergeRecords } from '@rollcall/admin/records/merge'
import { showRecord } from '@rollcall/admin/records/record'
import { addAttribute, indexAttribute, removeAttribute } from '@rollcall/admin/registries/attributes'
import { addIdentifierType, changeIdentifierType, removeIdentifierType } from '@rollcall/admin/registries/identifier-types'
import { beginIndexBuild, showIndexBuild, stopIndexBuild } from '@rollcall/admin/registries/index-build'
import { addRegistry, changeRegistry, listRegistries } from '@rollcall/admin/registries/registries'
import { showRegistry, showSamples } from '@rollcall/admin/registries/show'
import { checkRegistrySource } from '@rollcall/admin/registries/source-check'
import { compareSource, listSourceRejects, showSourceStatus } from '@rollcall/admin/registries/source-status'
import { removeRegistry } from '@rollcall/admin/removal'
import { trySearch } from '@rollcall/admin/try/try'
import { type AdminRoute, adminRoute } from './route.ts'

/**
 * The admin API does not have the member `allow_writer`: it lets a source use a database account that may write. Only the
 * command line has it, as `--allow-writer`.
 */
const COMMAND_LINE_ONLY_MEMBERS = ['allow_writer']

export const REGISTRY_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET', '/registries', listRegistries, {
    name: 'listRegistries',
    role: 'read',
    summary: 'Every registry, by namespace, with the number of its records.',
  }),
  adminRoute('POST', '/registries', addRegistry, {
    name: 'addRegistry',
    role: 'own',
    status: 201,
    hidden: COMMAND_LINE_ONLY_MEMBERS,
    summary: 'Adds a registry with its tables; a running server has it within a second.',
  }),
  adminRoute('GET', '/registries/{namespace}', showRegistry, {
    name: 'showRegistry',
    role: 'read',
    summary: 'One registry: records, attributes, identifier types, indexes, and the import that has begun.',
  }),
  adminRoute('GET', '/registries/{namespace}/sample', showSamples, {
    name: 'showSamples',
    role: 'read',
    summary: 'A synthetic record of each type of the registry, with its schema.',
  }),
  adminRoute('GET', '/registries/{namespace}/source', showSourceStatus, {
    name: 'sourceStatus',
    role: 'read',
    summary: 'How the copy of a source follows it: state, lag, the last failure and what to do.',
  }),
  adminRoute('GET', '/registries/{namespace}/source/rejects', listSourceRejects, {
    name: 'sourceRejects',
    role: 'operate',
    summary: 'Rows of a source that are no record, by their keys, with the reasons.',
  }),
  adminRoute('POST', '/registries/{namespace}/source/compare', compareSource, {
    name: 'compareSource',
    role: 'operate',
    summary: 'Has all records compared with the source, beside the comparison of each day.',
  }),
  // The question is in the body, because a person's identifier must not be part of an address.
  adminRoute('POST', '/registries/{namespace}/try', trySearch, {
    name: 'trySearch',
    role: 'operate',
    summary:
      'The message of a search, as commands and as a program, and the bytes that are signed. With `send`, in a demo or a sandbox, its answer.',
  }),
  adminRoute('POST', '/registries/{namespace}/settings', changeRegistry, {
    name: 'changeRegistry',
    role: 'own',
    hidden: COMMAND_LINE_ONLY_MEMBERS,
    summary: 'Changes what is given of a registry: web origins, time zone, age of majority.',
  }),
  // This call is a POST, because it connects to another system: a page must not repeat the call by itself.
  adminRoute('POST', '/registries/{namespace}/source/check', checkRegistrySource, {
    name: 'checkRegistrySource',
    role: 'operate',
    heavy: 'sources',
    summary: 'Connects to the database of the records, and says what is understood of its first rows. No value is shown.',
  }),
  adminRoute('POST', '/registries/{namespace}/remove', removeRegistry, {
    name: 'removeRegistry',
    role: 'own',
    summary: 'Removes a registry with its records. With `dry_run` it only counts what would go.',
  }),
  adminRoute('POST', '/registries/{namespace}/attributes', addAttribute, {
    name: 'addAttribute',
    status: 201,
    role: 'operate',
    summary: 'Adds a searchable attribute to a record type of the registry.',
  }),
  adminRoute('POST', '/registries/{namespace}/attributes/index', indexAttribute, {
    name: 'indexAttribute',
    role: 'operate',
    summary: 'Declares an index for an attribute that is searched without one; the next build makes it.',
  }),
  adminRoute('POST', '/registries/{namespace}/attributes/remove', removeAttribute, {
    name: 'removeAttribute',
    role: 'operate',
    summary: 'Removes an attribute that was added, with its column; of an attribute of the kind, its index.',
  }),
  adminRoute('POST', '/registries/{namespace}/indexes/build', beginIndexBuild, {
    name: 'beginIndexBuild',
    role: 'operate',
    summary: 'Begins to fill the columns and to build the indexes that are missing, on this node; answers with its progress.',
  }),
  adminRoute('GET', '/registries/{namespace}/indexes/build', showIndexBuild, {
    name: 'showIndexBuild',
    role: 'read',
    summary: 'How far the build of this node has come, or how its last one ended.',
  }),
  adminRoute('POST', '/registries/{namespace}/indexes/build/stop', stopIndexBuild, {
    name: 'stopIndexBuild',
    role: 'operate',
    summary: 'Ends the build that is running on this node. What is done stays; the next one goes on from there.',
  }),
  adminRoute('POST', '/registries/{namespace}/identifier-types', addIdentifierType, {
    name: 'addIdentifierType',
    role: 'operate',
    status: 201,
    summary: 'Adds an identifier type to the registry.',
  }),
  adminRoute('POST', '/registries/{namespace}/identifier-types/change', changeIdentifierType, {
    name: 'changeIdentifierType',
    role: 'operate',
    summary: 'Changes what is given of the other names and forms of an identifier type that was added.',
  }),
  adminRoute('POST', '/registries/{namespace}/identifier-types/remove', removeIdentifierType, {
    name: 'removeIdentifierType',
    role: 'operate',
    summary:
      'Removes an identifier type that was added and of which no record has an identifier; of one of the kind, what was added to it.',
  }),
  adminRoute('POST', '/registries/{namespace}/events', publishEvent, {
    name: 'publishEvent',
    role: 'publish',
    summary: 'Publishes an event: writes the record, and notifies who has subscribed. Answered after the commit.',
  }),
  adminRoute('GET', '/registries/{namespace}/events', listEvents, {
    name: 'listEvents',
    role: 'read',
    summary: 'The events of a registry, the newest first: what happened when, and never to whom.',
  }),
  adminRoute('POST', '/registries/{namespace}/records/merge', mergeRecords, {
    name: 'mergeRecords',
    role: 'operate',
    summary: 'Merges a record into another one of the same person, and notifies who was notified of it.',
  }),
  adminRoute('POST', '/registries/{namespace}/records/unmerge', unmergeRecords, {
    name: 'unmergeRecords',
    role: 'operate',
    summary: 'Takes a merge back, and notifies who was notified of it.',
  }),
  // The identifier of a person is in the body: as part of an address it would be in logs.
  adminRoute('POST', '/registries/{namespace}/records/get', showRecord, {
    name: 'showRecord',
    role: 'audit',
    summary: 'The records that an identifier names, whole. The access has an audit entry before it is answered.',
  }),
  adminRoute('POST', '/registries/{namespace}/protected-persons', protectPerson, {
    name: 'protectPerson',
    role: 'operate',
    status: 201,
    summary: 'Protects a person from every grant that does not name the category.',
  }),
  adminRoute('GET', '/registries/{namespace}/protected-persons', listProtectedPersons, {
    name: 'listProtected',
    role: 'audit',
    summary: 'The protected persons of a registry; with `identifiers=true` who they are, and why.',
  }),
  adminRoute('POST', '/registries/{namespace}/protected-persons/lift', unprotectPerson, {
    name: 'unprotectPerson',
    role: 'own',
    summary: 'Lifts the protection of a person.',
  }),
]
