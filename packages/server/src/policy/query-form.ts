/** Which forms of queries a grant allows. */
import { ItemRejection } from '@rollcall/protocol'
import type { Grant, QueryForm } from '../model/grant.ts'

interface Asked {
  readonly form: QueryForm
  readonly sort: readonly unknown[]
}

/**
 * Records that an identifier finds are not sorted by an attribute: their order would say something of it.
 * @throws ItemRejection rjct.search_criteria.invalid
 */
export function checkForm({ queryForms }: Pick<Grant, 'queryForms'>, { form, sort }: Asked): void {
  if (queryForms.has(form === 'identifier' && sort.length > 0 ? 'expression' : form)) return
  throw new ItemRejection(
    'rjct.search_criteria.invalid',
    `search_criteria.query: this participant may ask by ${[...queryForms].join(', ')} only`,
  )
}
