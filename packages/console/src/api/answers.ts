/** Types of the admin API's answers that several files use. */
import type { Answer } from './client.ts'
import type { paths } from './schema.d.ts'

export type ExplainedGrant = Answer<'/admin/v1/registries/{namespace}/grants/{sender_id}'>
export type Message = Answer<'/admin/v1/messages/{message_id}'>['messages'][number]
export type Overview = Answer<'/admin/v1/overview'>
export type Participant = Answer<'/admin/v1/participants/{sender_id}'>
export type Proposal = Answer<'/admin/v1/proposals/{id}'>
export type Registry = Answer<'/admin/v1/registries/{namespace}'>
export type SourceCheck =
  paths['/admin/v1/registries/{namespace}/source/check']['post']['responses'][200]['content']['application/json']
export type SourceStatus = Answer<'/admin/v1/registries/{namespace}/source'>
export type Subscription = Answer<'/admin/v1/subscriptions/{code}'>
