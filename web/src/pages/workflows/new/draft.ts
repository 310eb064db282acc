/** A pipeline as a person builds it: steps that run a script or a stored application, each after others. */

import { endingOf } from "../../files/places";

export type Kind = "script" | "stored";
/** How a step must have ended before another one runs. */
export type Condition = "ok" | "any" | "fail";

export interface Need {
  step: string;
  condition: Condition;
}

export interface Step {
  /** Stays the same while the step is renamed. */
  key: string;
  name: string;
  kind: Kind;
  file: string;
  arguments: string;
  memory: string;
  /** A stored application: `user/NAME` or `tenant/NAME`. */
  stored: string;
  /** By the keys of other steps. */
  needs: Need[];
}

export interface Draft {
  name: string;
  steps: Step[];
}

type Document = Record<string, unknown>;

export const NEW_DRAFT: Draft = { name: "pipeline", steps: [newStep("1", [])] };

/** A step after the last of those before it. */
export function newStep(key: string, before: Step[]): Step {
  const last = before.at(-1);
  return {
    key,
    name: "",
    kind: "script",
    file: "",
    arguments: "",
    memory: "1GiB",
    stored: "",
    needs: last ? [{ step: last.key, condition: "ok" }] : [],
  };
}

/** The draft with a further step at its end. */
export function withStep(draft: Draft): Draft {
  const key = String(1 + Math.max(0, ...draft.steps.map((step) => Number(step.key))));
  return { ...draft, steps: [...draft.steps, newStep(key, draft.steps)] };
}

/** The draft without a step; those that ran after it run after what it needed. */
export function withoutStep(draft: Draft, key: string): Draft {
  const gone = draft.steps.find((step) => step.key === key);
  const steps = draft.steps
    .filter((step) => step.key !== key)
    .map((step) => ({
      ...step,
      needs: step.needs
        .flatMap((need) => (need.step === key ? (gone?.needs ?? []) : [need]))
        .filter((need, index, all) => all.findIndex((one) => one.step === need.step) === index),
    }));
  return { ...draft, steps };
}

/** The name of a step: its own, else that of what it runs, as workflows spell names. */
export function stepName(step: Step): string {
  if (step.name.trim() !== "") return step.name.trim();
  const what =
    step.kind === "stored" ? step.stored : step.file.slice(0, -endingOf(step.file).length || undefined);
  const last = what.split(/[/:]/).at(-1) ?? "";
  const label = last
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return label || `step-${step.key}`;
}

/** The document of the workflow, with the descriptions of its steps in their order. */
export function documentOf(draft: Draft, applications: Document[]): Document {
  const names = new Map(draft.steps.map((step) => [step.key, stepName(step)]));
  const steps = draft.steps.map((step, index) => {
    const needs = step.needs.map(({ step: key, condition }) =>
      condition === "ok" ? names.get(key) : `${condition}:${names.get(key)}`,
    );
    return {
      name: names.get(step.key),
      ...(needs.length > 0 && { needs }),
      application: applications[index],
    };
  });
  return { version: 1, name: draft.name.trim() || "pipeline", steps };
}

/** What the page calls the places of the document: `/steps/1/needs` is about step 2. */
export function stepPlace(pointer: string): string {
  const found = pointer.match(/^(?:\/document)?\/steps\/(\d+)(.*)$/);
  return found ? `/step ${Number(found[1]) + 1}${found[2]?.replace(/^\/application/, "")}` : pointer;
}

const ADDRESS = "/workflows/new";
const QUERY = "draft";

/** The address of the form that is filled with a draft. */
export function draftAddress(draft: Draft): string {
  return `${ADDRESS}?${QUERY}=${encodeURIComponent(JSON.stringify(draft))}`;
}

/** The draft in an address; null if there is none that can be read. */
export function draftIn(query: URLSearchParams): Draft | null {
  try {
    const found: unknown = JSON.parse(query.get(QUERY) ?? "null");
    const { name, steps } = (found ?? {}) as Partial<Draft>;
    if (typeof name !== "string" || !Array.isArray(steps) || steps.length === 0) return null;
    return { name, steps: steps.map((step, index) => ({ ...newStep(String(index + 1), []), ...step })) };
  } catch {
    return null;
  }
}
