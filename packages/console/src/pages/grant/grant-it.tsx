/** The button that grants the terms, after a dialog has shown the changes. */
import { answerTo, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, DataTable, rowsAsQuery } from '../../parts/table.tsx'
import { numberText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { GRANT } from '../../texts/grants.ts'
import { changedMembers, type Draft, draftText, type Terms } from './draft.ts'
import type { GrantAddress } from './grant-address.ts'

const { confirm: TEXTS } = GRANT
const { columns: TITLES } = TEXTS

const CHANGED_MEMBER_COLUMNS: readonly Column<ReturnType<typeof changedMembers>[number]>[] = [
  { title: TITLES.member, cell: ({ member }) => <code>{member}</code> },
  { title: TITLES.before, cell: ({ before }) => draftText(before) ?? TEXTS.absent },
  { title: TITLES.after, cell: ({ after }) => draftText(after) ?? TEXTS.absent },
]

interface GrantTermsButtonProps {
  readonly whose: GrantAddress
  readonly before: Draft
  readonly draft: Draft
}

export function GrantTermsButton({ whose, before, draft }: GrantTermsButtonProps) {
  const changes = changedMembers(before, draft)
  return (
    <FormDialog
      main
      disabled={changes.length === 0}
      label={GRANT.edit.grant}
      title={TEXTS.title(whose.sender_id, whose.namespace)}
      fields={[{ name: 'beside', label: TEXTS.beside, as: 'flag' }]}
      call={(given) =>
        answerTo(
          api.POST('/admin/v1/registries/{namespace}/grants/{sender_id}', {
            params: { path: whose },
            // The server checks the terms.
            body: { terms: draft as Terms, beside: given.flag('beside') },
          }),
        )
      }
      changes={['grants', 'participants', 'subscriptions']}
      // Scrolls to the top of the page, where the grant in force is shown.
      onDone={() => scrollTo(0, 0)}
      done={({ suspended }) => TEXTS.done(numberText(suspended, LOCALE))}
    >
      <DataTable
        caption={TEXTS.caption}
        columns={CHANGED_MEMBER_COLUMNS}
        query={rowsAsQuery(changes)}
        keyOf={({ member }) => member}
        empty={<Empty title={TEXTS.nothing} />}
      />
      <p>{TEXTS.lead}</p>
    </FormDialog>
  )
}
