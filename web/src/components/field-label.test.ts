import { expect, it } from "vitest";
import { fieldLabel, plainPlace } from "./field-label";

const LABELS = { ageing_s: "Ageing, seconds", tenant_limits: "Limits of tenants", policy: "Policy" };

it.each([
  ["/body/ageing_s", "Ageing, seconds"],
  ["/ageing_s", "Ageing, seconds"],
  ["/body/policy/ageing_s", "Policy › ageing_s"],
  ["/body/tenant_limits/red/cores_milli", "Limits of tenants › red › cores_milli"],
  ["/body/tenant_limits/a~1b~0c", "Limits of tenants › a/b~c"],
])("calls %s what the form calls it", (pointer, label) => {
  expect(fieldLabel(pointer, LABELS)).toBe(label);
});

it.each(["", "/", "/body", "/body/other", "/components/0/name", "/body/constructor"])(
  "has no word for %s",
  (pointer) => {
    expect(fieldLabel(pointer, LABELS)).toBeNull();
  },
);

it.each([
  ["", ""],
  ["/path", ""],
  ["/path/month", "month"],
  ["/body/policy/a~1b", "policy.a/b"],
  ["/components/0/name", "/components/0/name"],
])("shows %s as %s", (pointer, shown) => {
  expect(plainPlace(pointer)).toBe(shown);
});
