/** The field for the sender of a search: a choice of participants, or a text field while the list of participants is empty. */
import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { answerTo, api } from '../../api/client.ts'
import { TRY } from '../../texts/try.ts'

interface SenderProps {
  readonly value: string
  readonly onChange: (sender: string) => void
}

const { fields: FIELDS } = TRY

export function SenderField({ value, onChange }: SenderProps) {
  const { data = [] } = useQuery({ queryKey: ['participants'], queryFn: () => answerTo(api.GET('/admin/v1/participants')) })
  const first = data[0]?.sender_id
  useEffect(() => {
    if (value === '' && first !== undefined) onChange(first)
  }, [value, first, onChange])
  if (first === undefined) {
    return (
      <TextInput
        label={FIELDS.sender_id}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  }
  return (
    <NativeSelect
      label={FIELDS.sender_id}
      data={data.map(({ sender_id }) => sender_id)}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
