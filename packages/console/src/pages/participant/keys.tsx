/** Lists the keys of a participant: registered ones, and published ones that have signed messages. */
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { numberText } from '../../parts/times.ts'
import { useMay } from '../../session/session.ts'
import { LOCALE } from '../../texts/common.ts'
import { PARTICIPANT } from '../../texts/participants.ts'
import { KEY_COLUMNS, type Key, PublishedKeys } from './key-columns.tsx'

const { keys: TEXTS } = PARTICIPANT
const { columns: TITLES, fields: FIELDS } = TEXTS
const USES: readonly Key['use'][] = ['sig', 'enc']
const QUERY_KEYS_TO_RELOAD = ['participants', 'overview'] as const
export function Keys({ participant: { sender_id, keys, published_keys } }: { readonly participant: Participant }) {
  const may = useMay()
  const acts: Column<Key> = {
    title: TITLES.acts,
    cell: (row) =>
      row.state !== 'revoked' && <RevokeKeyButton sender_id={sender_id} row={row} left={countOtherLiveKeys(keys, row)} />,
  }
  return (
    <>
      <Section title={TEXTS.title} lead={TEXTS.lead} actions={may('own') && <AddKeyButton sender_id={sender_id} />}>
        <PanelTable
          caption={TEXTS.caption}
          columns={may('operate') ? [...KEY_COLUMNS, acts] : KEY_COLUMNS}
          query={rowsAsQuery(keys)}
          keyOf={({ kid, use }) => `${kid} ${use}`}
          empty={<Empty title={TEXTS.none}>{TEXTS.noneNote}</Empty>}
        />
      </Section>
      <PublishedKeys title={TEXTS.published} caption={TEXTS.publishedCaption} keys={published_keys} />
    </>
  )
}

/** Counts the other live keys of the same use, which remain when this key is revoked. */
const countOtherLiveKeys = (keys: readonly Key[], { kid, use }: Key): number =>
  keys.filter((key) => key.state === 'live' && key.use === use && key.kid !== kid).length

interface RevokeKeyButtonProps {
  readonly sender_id: string
  readonly row: Key
  readonly left: number
}

const RevokeKeyButton = ({ sender_id, row: { kid, use }, left }: RevokeKeyButtonProps) => (
  <FormDialog
    small
    danger
    label={TEXTS.revoke}
    title={TEXTS.revokeTitle(kid)}
    call={() =>
      answerTo(api.POST('/admin/v1/participants/{sender_id}/keys/revoke', { params: { path: { sender_id } }, body: { kid } }))
    }
    changes={QUERY_KEYS_TO_RELOAD}
    done={() => TEXTS.revoked(kid)}
  >
    <p>{TEXTS.revokeLead}</p>
    <p>
      <strong>{left === 0 ? TEXTS.last[use] : TEXTS.left(numberText(left, LOCALE))}</strong>
    </p>
  </FormDialog>
)

const AddKeyButton = ({ sender_id }: { readonly sender_id: string }) => (
  <FormDialog
    label={TEXTS.add}
    title={TEXTS.add}
    fields={[
      { name: 'keys', label: FIELDS.keys, note: FIELDS.keysNote, as: 'area', required: true },
      { name: 'kid', label: FIELDS.kid, note: FIELDS.kidNote },
      { name: 'use', label: FIELDS.use, note: FIELDS.useNote, as: 'choice', options: USES },
      { name: 'valid_from', label: FIELDS.valid_from, note: FIELDS.fromNote, as: 'time' },
      { name: 'valid_until', label: FIELDS.valid_until, note: FIELDS.untilNote, as: 'time' },
    ]}
    call={(given) =>
      answerTo(
        api.POST('/admin/v1/participants/{sender_id}/keys', {
          params: { path: { sender_id } },
          body: {
            keys: given.text('keys') ?? '',
            kid: given.text('kid'),
            use: given.choice('use', USES),
            valid_from: given.time('valid_from'),
            valid_until: given.time('valid_until'),
          },
        }),
      )
    }
    changes={QUERY_KEYS_TO_RELOAD}
    done={(keys) => TEXTS.added(numberText(keys.length, LOCALE))}
  >
    <p>{TEXTS.addLead}</p>
  </FormDialog>
)
