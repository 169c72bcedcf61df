/** A list of limits and options with value, source and meaning, which a form narrows. */
import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { FilterForm } from '../../parts/filter-form.tsx'
import { NoMatch } from '../../parts/states.tsx'
import { type Column, PanelTable } from '../../parts/table.tsx'
import { numberText } from '../../parts/times.ts'
import { useFilter } from '../../parts/use-filter.ts'
import { LOCALE } from '../../texts/common.ts'
import { SETTINGS } from '../../texts/settings.ts'
import { filterSettings, valueText } from './filter-settings.ts'
import styles from './settings.module.css'

export type Setting = Answer<'/admin/v1/settings'>[number]

const { fields: FIELDS, columns: TITLES } = SETTINGS
const SETTING_KINDS: readonly Setting['kind'][] = ['limit', 'option']
const SETTING_SOURCES: readonly Setting['source'][] = ['environment', 'file', 'default']

const COLUMNS: readonly Column<Setting>[] = [
  { title: TITLES.variable, cell: ({ variable }) => <VariableName name={variable} /> },
  { title: TITLES.value, cell: (setting) => <SettingValue setting={setting} /> },
  { title: TITLES.meaning, cell: ({ meaning }) => meaning },
  { title: TITLES.source, cell: ({ source }) => <Badge state={source} tone={source === 'default' ? 'quiet' : 'info'} /> },
]

export function SettingList() {
  const filter = useFilter(Object.keys(FIELDS))
  const query = useQuery({ queryKey: ['settings'], queryFn: () => answerTo(api.GET('/admin/v1/settings')) })
  const shown = query.data && filterSettings(query.data, filter.values)
  return (
    <>
      <FilterForm
        filter={filter}
        fields={[
          { name: 'text', label: FIELDS.text },
          { name: 'source', label: FIELDS.source, options: SETTING_SOURCES },
          { name: 'kind', label: FIELDS.kind, options: SETTING_KINDS },
        ]}
      />
      {shown !== undefined && (
        <p className={styles.shown} role="status">
          {SETTINGS.shown(numberText(shown.length, LOCALE), numberText(query.data?.length ?? 0, LOCALE))}
        </p>
      )}
      <PanelTable
        caption={SETTINGS.caption}
        columns={COLUMNS}
        query={{ ...query, data: shown }}
        keyOf={({ variable }) => variable}
        empty={<NoMatch />}
      />
    </>
  )
}

/** Shows the name of a variable. A line may break only after a `_` in the name. */
const VariableName = ({ name }: { readonly name: string }) => (
  <code className={styles.variable}>
    {name.split(/(?<=_)/).map((part, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name never change
      <Fragment key={at}>
        {part}
        <wbr />
      </Fragment>
    ))}
  </code>
)

function SettingValue({ setting }: { readonly setting: Setting }) {
  const { value, secret, unit, source } = setting
  if (secret) return <span className={styles.none}>{SETTINGS.secret}</span>
  if (value === null) return <span className={styles.none}>{SETTINGS.unset}</span>
  const usual = source === 'default' || setting.default === null ? null : valueText(setting.default, unit)
  return (
    <>
      <span className={styles.given}>{valueText(value, unit)}</span>
      {usual !== null && <span className={styles.usual}>{SETTINGS.usual(usual)}</span>}
    </>
  )
}
