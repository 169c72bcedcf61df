/** Makes records of a beneficiary registry. */

/** A person of a beneficiary registry, with enrolments. */
export const beneficiary = (uin: string, enrolments: unknown, more: object = {}) => ({
  '@type': 'Beneficiary',
  member: {
    member_identifier: uin,
    demographic_info: { person: { name: { first_name: 'Bola', surname: 'Ade' }, ...more } },
    programme_identifier: enrolments,
  },
})

/** An enrolment, Active unless it says otherwise. */
export const enrolment = (programme_identifier: string, more: object = {}) => ({
  programme: { programme_identifier, programme_name: `Programme ${programme_identifier}` },
  enrolment_date: '2020-01-01',
  enrolment_status: 'Active',
  ...more,
})
