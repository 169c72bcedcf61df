/** Identifies a grant: its participant and its registry. */
import type { ExplainedGrant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { ApiFault } from '../../api/fault.ts'

export interface GrantAddress {
  readonly sender_id: string
  readonly namespace: string
}

export const GRANT_PATH = '/admin/v1/registries/{namespace}/grants/{sender_id}'

/** A query for the grant in force; null: there is none. */
export const grantQuery = (whose: GrantAddress) => ({
  queryKey: ['grants', 'one', whose.sender_id, whose.namespace],
  queryFn: (): Promise<ExplainedGrant | null> =>
    answerTo(api.GET(GRANT_PATH, { params: { path: whose } })).catch((error: unknown) => {
      if (error instanceof ApiFault && error.status === 404) return null
      throw error
    }),
})
