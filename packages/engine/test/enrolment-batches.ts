/** Messages of several portions, the same ones each time they are sent. */
export const MESSAGES = 6
export const PEOPLE = 150

/** People of one message; each is in the message that follows as well, with another programme. */
export const beneficiariesOf = (number: number) =>
  Array.from({ length: PEOPLE }, (_, at) => ({
    member: {
      member_identifier: `U-${Math.floor(number / 2)}-${at}`,
      programme_identifier: { programme: { programme_identifier: `PRG-${number % 2}` }, enrolment_status: 'Active' },
    },
  }))
