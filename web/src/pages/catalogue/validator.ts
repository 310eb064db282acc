import { type Schema, Validator } from "@cfworker/json-schema";
import type { RJSFSchema, RJSFValidationError, ValidationData, ValidatorType } from "@rjsf/utils";

/** Checks forms without building code at run time, which the pages' security policy forbids. */
class FormValidator implements ValidatorType {
  validateFormData(formData: unknown, schema: RJSFSchema): ValidationData<unknown> {
    const { errors = [] } = this.rawValidation<RJSFValidationError>(schema, formData);
    const errorSchema: Record<string, { __errors: string[] }> = {};
    for (const one of errors) {
      const name = one.property?.replace(/^\./, "");
      if (!name) continue;
      errorSchema[name] ??= { __errors: [] };
      errorSchema[name].__errors.push(one.message ?? "");
    }
    return { errors, errorSchema: errorSchema as ValidationData<unknown>["errorSchema"] };
  }

  isValid(schema: RJSFSchema, formData: unknown): boolean {
    return new Validator(schema as Schema, "2020-12").validate(formData ?? {}).valid;
  }

  rawValidation<Result = unknown>(schema: RJSFSchema, formData?: unknown): { errors?: Result[] } {
    const { errors } = new Validator(schema as Schema, "2020-12", false).validate(formData ?? {});
    const own = errors.filter((one) => one.keyword !== "properties");
    return {
      errors: own.map((one) => ({
        property: one.instanceLocation.replace(/^#/, "").replaceAll("/", "."),
        message: one.error,
        stack: one.error,
      })) as Result[],
    };
  }
}

export const validator: ValidatorType = new FormValidator();
export default validator;
