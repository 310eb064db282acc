/** The document of a draft, with the descriptions that the server makes of its steps. */

import { api, type Schemas, told } from "../../../api/client";
import { asRefused, type Diagnostic, Refused } from "../../../api/problem";
import { checkFile } from "../../catalogue/script-file";
import { endingOf } from "../../files/places";
import { type Draft, documentOf, type Step } from "./draft";

type Entry = Schemas["CatalogueEntryView"];
type Document = Record<string, unknown>;

/** Throws Refused, whose findings name the step. */
export async function draftDocument(draft: Draft, entries: Entry[]): Promise<Document> {
  const answers = await Promise.allSettled(draft.steps.map((step) => applicationOf(step, entries)));
  const errors = answers.flatMap((answer, index) =>
    answer.status === "rejected" ? ofStep(answer.reason, index) : [],
  );
  if (errors.length > 0) throw new Refused(422, "", "Not all steps can run", "", errors);
  const applications = answers.map((answer) => (answer.status === "fulfilled" ? answer.value : {}));
  return documentOf(draft, applications);
}

async function applicationOf(step: Step, entries: Entry[]): Promise<Document> {
  if (step.kind === "stored") return storedDocument(step.stored);
  const entry = entries.find((one) => one.script === endingOf(step.file));
  if (step.file === "" || !entry) {
    const known = entries.flatMap((one) => one.script ?? []).join(", ");
    throw new Refused(422, "", "choose a script", `It ends with one of ${known}.`);
  }
  await checkFile(step.file);
  const takesArguments = Object.hasOwn(entry.form?.properties as object, "arguments");
  const given = takesArguments || step.arguments !== "" ? { arguments: step.arguments } : {};
  const body = { values: { file: step.file, memory: step.memory, ...given } };
  const params = { path: { entry_id: entry.id } };
  return (await told(api.POST("/api/v1/catalogue/{entry_id}/fill", { params, body }))).document;
}

async function storedDocument(stored: string): Promise<Document> {
  const [owner, name = ""] = stored.split("/");
  if (name === "") throw new Refused(422, "", "choose an application");
  const params = { path: { name }, query: { of_tenant: owner === "tenant" } };
  return (await told(api.GET("/api/v1/applications/{name}", { params }))).document;
}

/** The findings about a step, else its refusal as one. */
function ofStep(error: unknown, index: number): Diagnostic[] {
  const { code, message, hint, errors } = asRefused(error);
  const place = `/step ${index + 1}`;
  if (errors.length === 0) return [{ pointer: place, code, message, hint }];
  return errors.map((one) => ({ ...one, pointer: place + one.pointer }));
}
