/** The purposes for which a consent may be given, as the operator configured them. */
import type { Database } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import { isTextStorable } from '@rollcall/database/text'

export interface ConsentPurpose {
  readonly code: string
  /** The text that explains the purpose to people; null when there is none. */
  readonly text: string | null
}

/** The form of a purpose's code: ASCII letters, digits and some signs; it begins with a letter or a digit. */
const PURPOSE_CODE_PATTERN = /^[A-Za-z0-9][\w.:/-]{0,99}$/
const MOST_TEXT_CHARACTERS = 500

/** Adds a purpose, or changes its text. @throws StoreRefusal a code or a text of the wrong form */
export async function putPurpose({ pool }: Pick<Database, 'pool'>, { code, text }: ConsentPurpose): Promise<void> {
  checkPurposeForm({ code, text })
  await pool.query('insert into purpose (code, text) values ($1, $2) on conflict (code) do update set text = $2', [code, text])
}

/** Checks the form of a purpose. @throws StoreRefusal */
export function checkPurposeForm({ code, text }: ConsentPurpose): void {
  if (!PURPOSE_CODE_PATTERN.test(code)) {
    throw new StoreRefusal('code: must have 1 to 100 characters: letters, digits and . : / _ -')
  }
  if (text !== null && (text.trim() === '' || text.length > MOST_TEXT_CHARACTERS || !isTextStorable(text))) {
    throw new StoreRefusal(`text: must have 1 to ${MOST_TEXT_CHARACTERS} characters`)
  }
}

/** Lists all purposes, sorted by code. */
export async function listPurposes({ pool }: Pick<Database, 'pool'>): Promise<readonly ConsentPurpose[]> {
  const { rows } = await pool.query<ConsentPurpose>('select code, text from purpose order by code')
  return rows
}

/** True when a purpose is configured, or a grant names it or once named it. */
export async function isConfiguredOrGrantedPurpose({ pool }: Pick<Database, 'pool'>, purpose: string): Promise<boolean> {
  const { rows } = await pool.query<{ known: boolean }>(
    `select exists (select from purpose where code = $1)
      or exists (select from participant_grant where terms -> 'purposes' ? $1) as known`,
    [purpose],
  )
  return rows[0]?.known === true
}

/** Removes a purpose. @returns false when there was none with this code */
export async function removePurpose({ pool }: Pick<Database, 'pool'>, code: string): Promise<boolean> {
  const { rowCount } = await pool.query('delete from purpose where code = $1', [code])
  return (rowCount ?? 0) > 0
}
