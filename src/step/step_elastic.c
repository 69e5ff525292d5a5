// SPDX-License-Identifier: Apache-2.0
/* elastic(50, sigma=5): torchvision's ElasticTransform. Two draws: the key of the noise (elastic.h). */
#include "step/elastic.h"
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if (step->alpha[0] == 0.0 && step->alpha[1] == 0.0)
        step->alpha[0] = step->alpha[1] = 50.0;
    if (step->sigma[0] == 0.0 && step->sigma[1] == 0.0)
        step->sigma[0] = step->sigma[1] = 5.0;
    for (size_t i = 0; i < 2; i++) {
        if (!(step->alpha[i] >= 0.0 && step->alpha[i] <= MR__ELASTIC_ALPHA_MAX))
            return mr__fail(detail, MR_EARGUMENT, "elastic: alpha=%g; it goes from 0 to %g", step->alpha[i],
                            MR__ELASTIC_ALPHA_MAX);
        if (!(step->sigma[i] >= MR__ELASTIC_SIGMA_MIN && step->sigma[i] <= MR__ELASTIC_SIGMA_MAX))
            return mr__fail(detail, MR_EARGUMENT, "elastic: sigma=%g; it goes from %g to %g", step->sigma[i],
                            MR__ELASTIC_SIGMA_MIN, MR__ELASTIC_SIGMA_MAX);
    }
    return mr__step_settle_sampling(step, MR_SAMPLING_BILINEAR, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    mr__elastic elastic = {.alpha = {step->alpha[0], step->alpha[1]},
                           .sigma = {step->sigma[0], step->sigma[1]},
                           .key = {draws[0], draws[1]},
                           .sampling = step->sampling,
                           .fill = {step->fill[0], step->fill[1], step->fill[2], step->fill[3]}};
    return mr__chain_elastic(chain, &elastic, detail);
}

const mr__step_type mr__step_elastic = {
    .kind = MR_STEP_ELASTIC,
    .name = "elastic",
    .settle = settle,
    .shape = mr__step_shape_op,
    .draws = 2,
    .resolve = resolve,
    .sometimes = true,
};
