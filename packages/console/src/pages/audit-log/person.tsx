/** A form that finds the audit entries of a person. The call names the person in its body, never in an address. */
import { Button, Checkbox, TextInput } from '@mantine/core'
import { useState } from 'react'
import { answerTo, api } from '../../api/client.ts'
import { isoTimeOf } from '../../parts/filters.ts'
import { Panel, Section } from '../../parts/page.tsx'
import { useAct } from '../../parts/use-act.tsx'
import { PERSON_ENTRIES } from '../../texts/audit-log.ts'
import { AccessesByMonth } from './accesses-by-month.tsx'
import styles from './audit-log.module.css'
import { download } from './download.ts'

const { fields: FIELDS, report: REPORT } = PERSON_ENTRIES
const QUERY_KEYS_TO_RELOAD = ['auditLog']
const EMPTY_FORM = { type: '', value: '', from: '', to: '', confidential: false }
const ACCESS_LISTS = ['seen', 'written', 'asked'] as const

export function EntriesOfPerson() {
  const [given, setGiven] = useState(EMPTY_FORM)
  const set = (changes: Partial<typeof EMPTY_FORM>) => setGiven({ ...given, ...changes })
  const readForm = () => {
    const [from, to] = [isoTimeOf(given.from), isoTimeOf(given.to)]
    const period = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
    return { type: given.type.trim(), value: given.value.trim(), ...period }
  }
  const look = useAct({
    call: (person: ReturnType<typeof readForm>) =>
      answerTo(api.POST('/admin/v1/accounts/person', { body: { ...person, confidential: given.confidential } })),
    changes: QUERY_KEYS_TO_RELOAD,
  })
  const report = useAct({
    // The form may name the next person already: the report is about the person whose entries are shown.
    call: async (format: 'html' | 'json') => ({
      format,
      answer: await answerTo(api.POST('/admin/v1/accounts/report', { body: look.variables ?? readForm() })),
    }),
    changes: QUERY_KEYS_TO_RELOAD,
    onDone: ({ format, answer }) => {
      const text = format === 'html' ? answer.html : JSON.stringify(answer.report, null, 2)
      download(`${REPORT.file}.${format}`, format === 'html' ? 'text/html' : 'application/json', text)
    },
  })
  const isReady = given.type.trim() !== '' && given.value.trim() !== ''
  return (
    <>
      <Section title={PERSON_ENTRIES.title} lead={PERSON_ENTRIES.lead}>
        <Panel padded>
          <form
            className={styles.form}
            autoComplete="off"
            onSubmit={(event) => {
              event.preventDefault()
              look.mutate(readForm())
            }}
          >
            <Fields given={given} set={set} />
            <Checkbox
              label={FIELDS.confidential}
              checked={given.confidential}
              onChange={(event) => set({ confidential: event.currentTarget.checked })}
            />
            <div>
              <Button type="submit" loading={look.isPending} disabled={!isReady}>
                {PERSON_ENTRIES.act}
              </Button>
            </div>
          </form>
        </Panel>
      </Section>
      {look.data !== undefined && (
        <>
          <Section
            title={REPORT.title}
            lead={REPORT.lead}
            actions={
              <>
                <Button variant="default" disabled={report.isPending} onClick={() => report.mutate('html')}>
                  {REPORT.html}
                </Button>
                <Button variant="default" disabled={report.isPending} onClick={() => report.mutate('json')}>
                  {REPORT.json}
                </Button>
              </>
            }
          >
            <p className={styles.note}>{PERSON_ENTRIES.types(look.data.identifier_types)}</p>
          </Section>
          {ACCESS_LISTS.map((role) => (
            <Section key={role} title={PERSON_ENTRIES[role]}>
              <Panel>
                <AccessesByMonth caption={PERSON_ENTRIES[role]} accesses={look.data[role]} months={look.data.months[role]} />
              </Panel>
            </Section>
          ))}
        </>
      )}
    </>
  )
}

interface FieldsProps {
  readonly given: typeof EMPTY_FORM
  readonly set: (changes: Partial<typeof EMPTY_FORM>) => void
}

function Fields({ given, set }: FieldsProps) {
  return (
    <div className={styles.fields}>
      <TextInput
        label={FIELDS.type}
        placeholder={FIELDS.typeAdvice}
        spellCheck={false}
        value={given.type}
        onChange={(event) => set({ type: event.currentTarget.value })}
      />
      <TextInput
        label={FIELDS.value}
        spellCheck={false}
        value={given.value}
        onChange={(event) => set({ value: event.currentTarget.value })}
      />
      <TextInput
        type="datetime-local"
        label={FIELDS.from}
        value={given.from}
        onChange={(event) => set({ from: event.currentTarget.value })}
      />
      <TextInput
        type="datetime-local"
        label={FIELDS.to}
        value={given.to}
        onChange={(event) => set({ to: event.currentTarget.value })}
      />
    </div>
  )
}
