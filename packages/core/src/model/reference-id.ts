/** How the items of a batch are named (N2): by 1 to 99 characters, unique within the batch. */

const MAX_REFERENCE_ID = 99

/** As an answer names the item: what of its reference_id can be sent back. */
export function referenceId({ reference_id }: { readonly [member: string]: unknown }): string {
  return typeof reference_id === 'string' ? firstCharacters(reference_id, MAX_REFERENCE_ID) : ''
}

/** Code points, as the schemas count them: half a surrogate pair could not be sent back. */
function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  return [...text.slice(0, count * 2)].slice(0, count).join('')
}
