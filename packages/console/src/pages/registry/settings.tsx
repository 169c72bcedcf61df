/** A form for the settings of a registry: web origins, primary identifiers, time zone and age of majority. */
import { useState } from 'react'
import type { Registry } from '../../api/answers.ts'
import { answerTo, api } from '../../api/client.ts'
import type { DialogField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { changedFormMembers, type FormValues } from '../../parts/form-values.ts'
import { REGISTRIES, REGISTRY } from '../../texts/registries.ts'

const { settings: TEXTS, facts: NAMES } = REGISTRY
const { fields: FIELDS } = REGISTRIES

/** True when the registry has no records. Only then can its primary identifiers be changed. Those of a source are not counted. */
const hasNoRecords = ({ records }: Registry): boolean =>
  Object.keys(records).length > 0 && Object.values(records).every((number) => number === 0)

const primaryFieldName = (record_type: string): string => `primary ${record_type}`

const primaryIdentifierFields = ({ primary_identifiers, identifier_types }: Registry): readonly DialogField[] =>
  Object.entries(primary_identifiers).map(([record_type, value]) => ({
    name: primaryFieldName(record_type),
    label: TEXTS.known(record_type),
    note: TEXTS.knownNote,
    as: 'choice',
    options: identifier_types.map(({ name }) => name),
    value,
    required: true,
  }))

/** Returns the primary identifier of every record type: the one of the form, or the present one when the form has none. */
const readPrimaryIdentifiers = (given: FormValues, { primary_identifiers }: Registry): Record<string, string> =>
  Object.fromEntries(
    Object.entries(primary_identifiers).map(([type, before]) => [type, given.text(primaryFieldName(type)) ?? before]),
  )

export function Settings({ registry }: { readonly registry: Registry }) {
  const [shown, setShown] = useState(registry)
  return (
    <FormDialog
      label={TEXTS.label}
      title={TEXTS.title}
      act={TEXTS.act}
      onOpen={() => setShown(registry)}
      fields={[
        {
          name: 'web_origins',
          label: NAMES.web_origins,
          note: TEXTS.originsNote,
          as: 'area',
          value: shown.web_origins.join('\n'),
        },
        ...(hasNoRecords(shown) ? primaryIdentifierFields(shown) : []),
        { name: 'time_zone', label: FIELDS.time_zone, note: FIELDS.timeZoneNote, required: true, value: shown.time_zone },
        {
          name: 'majority_age',
          label: FIELDS.majority_age,
          note: FIELDS.majorityNote,
          required: true,
          as: 'number',
          value: shown.majority_age,
        },
      ]}
      call={async (given) => {
        const body = changedFormMembers(
          {
            web_origins: given.lines('web_origins'),
            time_zone: given.text('time_zone'),
            majority_age: given.number('majority_age'),
            ...(hasNoRecords(shown) && { primary_identifiers: readPrimaryIdentifiers(given, shown) }),
          },
          shown,
        )
        // The server refuses a call that changes nothing.
        if (Object.keys(body).length === 0) return
        const path = { namespace: shown.namespace }
        await answerTo(api.POST('/admin/v1/registries/{namespace}/settings', { params: { path }, body }))
      }}
      changes={['registries']}
      done={() => TEXTS.done}
    />
  )
}
