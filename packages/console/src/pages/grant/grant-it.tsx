/** The button that grants the terms, after a dialog has shown the changes. */
import { useQueryClient } from '@tanstack/react-query'
import { answerTo, api } from '../../api/client.ts'
import { ApiFault } from '../../api/fault.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, DataTable, rowsAsQuery } from '../../parts/table.tsx'
import { numberText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'
import { GRANT } from '../../texts/grants.ts'
import { changedMembers, type Draft, draftText, type Terms } from './draft.ts'
import { GRANT_PATH, type GrantAddress, grantQuery } from './grant-address.ts'

const { confirm: TEXTS } = GRANT
const { columns: TITLES } = TEXTS

const CHANGED_MEMBER_COLUMNS: readonly Column<ReturnType<typeof changedMembers>[number]>[] = [
  { title: TITLES.member, cell: ({ member }) => <code>{member}</code> },
  { title: TITLES.before, cell: ({ before }) => draftText(before) ?? TEXTS.absent },
  { title: TITLES.after, cell: ({ after }) => draftText(after) ?? TEXTS.absent },
]

interface GrantTermsButtonProps {
  readonly whose: GrantAddress
  /** The version of the grant with the terms in `before`; null: there was no grant. */
  readonly version: number | null
  readonly before: Draft
  readonly draft: Draft
}

export function GrantTermsButton({ whose, version, before, draft }: GrantTermsButtonProps) {
  const queries = useQueryClient()
  const changes = changedMembers(before, draft)
  /** The call replaces all terms: it must not give back what another operator has taken away since the form was opened. */
  const checkVersion = async () => {
    const now = await queries.fetchQuery({ ...grantQuery(whose), staleTime: 0 })
    if ((now?.version ?? null) !== version) throw new ApiFault(409, [{ code: 'changed', message: TEXTS.changedMeanwhile }])
  }
  return (
    <FormDialog
      main
      disabled={changes.length === 0}
      label={GRANT.edit.grant}
      title={TEXTS.title(whose.sender_id, whose.namespace)}
      fields={[{ name: 'beside', label: TEXTS.beside, as: 'flag' }]}
      call={async (given) => {
        await checkVersion()
        // The server checks the terms.
        const body = { terms: draft as Terms, beside: given.flag('beside') }
        return answerTo(api.POST(GRANT_PATH, { params: { path: whose }, body }))
      }}
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
