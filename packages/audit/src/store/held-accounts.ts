/** Which entries a hold keeps. */
import { isHeld } from '@rollcall/database/holds'

/** Whether a hold covers a row of `account`, as SQL: by its person, its participant or its time. */
export const IS_ACCOUNT_HELD = isHeld({
  time: 'account.at',
  sender_id: "account.entry::jsonb ->> 'participant'::text",
  person: `exists (
      select from account_person where account_person.chain = account.chain
        and account_person.sequence = account.sequence and account_person.pseudonym = any(hold.pseudonyms))`,
})
