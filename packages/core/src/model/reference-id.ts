/** The names of items in a batch (N2): 1 to 99 characters, unique within the batch. */

const MAX_REFERENCE_ID = 99

/** The reference_id of an item for the answer, cut to the length that can be sent. */
export function referenceId({ reference_id }: { readonly [member: string]: unknown }): string {
  return typeof reference_id === 'string' ? firstCharacters(reference_id, MAX_REFERENCE_ID) : ''
}

/** Counts code points, as the schemas do: half of a surrogate pair could not be sent. */
function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  return [...text.slice(0, count * 2)].slice(0, count).join('')
}
