/** A list of hosts that our requests to a participant may reach, in addition to HTTPS in the public network. */
import type { Participant } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { type Column, PanelTable, rowsAsQuery } from '../../parts/table.tsx'
import { useMay } from '../../session/session.ts'
import { PARTICIPANT } from '../../texts/participants.ts'

type Host = Participant['hosts'][number]

const { hosts: TEXTS } = PARTICIPANT
const { columns: TITLES, fields: FIELDS } = TEXTS
const QUERY_KEYS_TO_RELOAD = ['participants'] as const
const HOST_PERMISSIONS = ['plainHttp', 'loopback', 'private'] as const

const COLUMNS: readonly Column<Host>[] = [
  { title: TITLES.host, cell: ({ host }) => <code>{host}</code> },
  { title: TITLES.ports, cell: ({ ports = [] }) => (ports === 'any' ? TEXTS.anyPort : ports.join(', ') || TEXTS.onlyPort) },
  {
    title: TITLES.rules,
    cell: (row) =>
      HOST_PERMISSIONS.filter((rule) => row[rule])
        .map((rule) => FIELDS[rule])
        .join(', ') || TEXTS.https,
  },
]

export function Hosts({ participant: { sender_id, hosts } }: { readonly participant: Participant }) {
  const may = useMay()
  const acts: Column<Host> = { title: TITLES.acts, cell: ({ host }) => <RemoveHostButton sender_id={sender_id} host={host} /> }
  return (
    <Section title={TEXTS.title} lead={TEXTS.lead} actions={may('own') && <AddHostButton sender_id={sender_id} />}>
      <PanelTable
        caption={TEXTS.caption}
        columns={may('operate') ? [...COLUMNS, acts] : COLUMNS}
        query={rowsAsQuery(hosts)}
        keyOf={({ host }) => host}
        empty={<Empty title={TEXTS.none} />}
      />
    </Section>
  )
}

const RemoveHostButton = ({ sender_id, host }: { readonly sender_id: string; readonly host: string }) => (
  <FormDialog
    small
    danger
    label={TEXTS.remove}
    title={TEXTS.removeTitle(host)}
    call={() =>
      answerTo(api.POST('/admin/v1/participants/{sender_id}/hosts/remove', { params: { path: { sender_id } }, body: { host } }))
    }
    changes={QUERY_KEYS_TO_RELOAD}
    done={() => TEXTS.removed}
  >
    <p>{TEXTS.removeLead}</p>
  </FormDialog>
)

const AddHostButton = ({ sender_id }: { readonly sender_id: string }) => (
  <FormDialog
    label={TEXTS.add}
    title={TEXTS.add}
    fields={[
      { name: 'host', label: FIELDS.host, required: true },
      { name: 'ports', label: FIELDS.ports, note: FIELDS.portsNote, as: 'area' },
      ...HOST_PERMISSIONS.map((name) => ({ name, label: FIELDS[name], as: 'flag' }) as const),
    ]}
    call={(given) => {
      const ports = given.lines('ports')
      return answerTo(
        api.POST('/admin/v1/participants/{sender_id}/hosts', {
          params: { path: { sender_id } },
          body: {
            host: given.text('host') ?? '',
            ...(ports.length > 0 && { ports: ports[0] === 'any' ? ('any' as const) : ports.map(Number) }),
            plainHttp: given.flag('plainHttp'),
            loopback: given.flag('loopback'),
            private: given.flag('private'),
          },
        }),
      ).then(() => given.text('host') ?? '')
    }}
    changes={QUERY_KEYS_TO_RELOAD}
    done={TEXTS.added}
  >
    <p>{TEXTS.addLead}</p>
  </FormDialog>
)
