/** The civil registry (spec "Civil person record", public-standard.md 2.3). */
import { Person } from '../records/person.ts'
import { EMAIL, MOBILE, NID, UIN } from './identifier-types.ts'
import type { EventOffer, Kind } from './kind.ts'
import {
  addressAttributes,
  identifierKeyedList,
  maritalStatus,
  personAttributes,
  registrationAttributes,
} from './shared-attributes.ts'

/**
 * The form for publishing an event is filled at first with the youngest sample person who has no marriage date and no death date.
 */
const YOUNGEST_SAMPLE_PERSON_OFFER: EventOffer = {
  lacks: ['marriage_date', 'death_date'],
  by: { attribute: 'birth_date', first: 'latest' },
}

export const civil: Kind = {
  name: 'civil',
  title: 'Civil registry',
  description: 'Births, deaths, marriages and divorces: one record a person.',
  reg_type: { name: 'Civil', aliases: ['CRVS', 'CivilRegistry', 'birth', 'death', 'marriage'] },
  record_types: [
    {
      name: 'Person',
      emitted: 'Person',
      aliases: ['CRVSPerson', 'CRVS_Person', 'SRPerson'],
      document_types: ['Person', 'CRVS_Person', 'CRVSPerson'],
      primary_identifier: 'UIN',
      identifiers: [
        { path: 'identifier', type: 'UIN', names: 'record' },
        { path: 'phone_number', type: 'MOBILE', names: 'record' },
        { path: 'email', type: 'EMAIL', names: 'record' },
      ],
      attributes: [
        ...personAttributes(['']),
        { name: 'birth_place', paths: ['birth_place.name', 'birth_place', 'birth_place.address_line'], type: 'text', fold: true },
        { name: 'death_place', paths: ['death_place.name', 'death_place', 'death_place.address_line'], type: 'text', fold: true },
        maritalStatus(['marital_status']),
        { name: 'marriage_date', paths: ['marriage_date'], type: 'date', many: true },
        { name: 'divorce_date', paths: ['divorce_date'], type: 'date', many: true },
        ...addressAttributes(['']),
        ...registrationAttributes(['']),
      ],
      keyed_lists: [identifierKeyedList(['identifier'])],
      event_rules: [
        { event: 'Death', on: 'new', if: [{ is: 'has', attribute: 'death_date' }] },
        {
          event: 'LiveBirth',
          on: 'new',
          if: [{ is: 'recent', attribute: 'birth_date', until: 'registration_date' }],
          otherwise: true,
        },
        { event: 'REGISTER', on: 'new', otherwise: true },
        { event: 'Death', on: 'changed', if: [{ is: 'set', attribute: 'death_date' }] },
        { event: 'Marriage', on: 'changed', if: [{ is: 'added', list: { attribute: 'marriage_date' } }] },
        { event: 'Divorce', on: 'changed', if: [{ is: 'added', list: { attribute: 'divorce_date' } }] },
        { event: 'Death', on: 'changed', if: [{ is: 'cleared', attribute: 'death_date' }], corrects: 'CANCEL' },
        { event: 'Death', on: 'changed', if: [{ is: 'changed', attribute: 'death_date' }], corrects: 'CORRECTION' },
        { event: 'Marriage', on: 'changed', if: [{ is: 'cleared', attribute: 'marriage_date' }], corrects: 'CANCEL' },
        { event: 'Divorce', on: 'changed', if: [{ is: 'cleared', attribute: 'divorce_date' }], corrects: 'CANCEL' },
        { event: 'UPDATE', on: 'changed', otherwise: true },
        { event: 'UPDATE', on: 'deleted' },
      ],
      relations: [{ name: 'parents', paths: ['parent1_identifier', 'parent2_identifier'] }],
      schema: Person,
    },
  ],
  identifier_types: [
    UIN,
    { name: 'BRN', aliases: ['BIRTH_REG_NO'], normaliser: 'code' },
    { name: 'MRN', aliases: ['MARRIAGE_REG_NO'], normaliser: 'code' },
    { name: 'DRN', aliases: ['DEATH_REG_NO'], normaliser: 'code' },
    NID,
    { name: 'OPENCRVS_RECORD_ID', normaliser: 'code' },
    MOBILE,
    EMAIL,
  ],
  event_types: [
    {
      name: 'LiveBirth',
      aliases: ['live_birth', 'birth'],
      needs: ['birth_date', 'registration_date'],
      offers: YOUNGEST_SAMPLE_PERSON_OFFER,
    },
    {
      name: 'Death',
      aliases: [],
      ends_subscriptions: true,
      needs: ['death_date'],
      offers: { lacks: ['death_date'], by: { attribute: 'birth_date', first: 'earliest' } },
    },
    { name: 'FetalDeath', aliases: ['fetal_death'], needs: ['birth_date', 'death_date'], offers: YOUNGEST_SAMPLE_PERSON_OFFER },
    {
      name: 'Marriage',
      aliases: [],
      needs: ['marriage_date'],
      offers: { lacks: ['marriage_date', 'death_date'], by: { attribute: 'birth_date', first: 'earliest' } },
    },
    {
      name: 'Divorce',
      aliases: [],
      needs: ['divorce_date'],
      offers: { has: ['marriage_date'], lacks: ['divorce_date', 'death_date'] },
    },
    { name: 'Adoption', aliases: [], offers: YOUNGEST_SAMPLE_PERSON_OFFER },
    { name: 'REGISTER', aliases: ['REGISTRATION'] },
    { name: 'UPDATE', aliases: [] },
  ],
  operations: [],
}
